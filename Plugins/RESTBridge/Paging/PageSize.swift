/// How many records a page has by default, where an API says nothing of pages.
enum PageSize {
    /// 50, 100, 200, 250, 500 and these times ten, a hundred, ...: hardly ever the number of all records there are.
    static func isUsual(_ count: Int) -> Bool {
        var count = count
        while count >= 1000, count.isMultiple(of: 10) { count /= 10 }
        return [50, 100, 200, 250, 500].contains(count)
    }
}
