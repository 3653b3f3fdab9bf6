/// Common default page sizes of APIs.
package enum PageSize {
    /// Whether the count is 50, 100, 200, 250, 500 or one of these times a power of ten.
    ///
    /// A complete listing rarely has such a count.
    package static func isUsual(_ count: Int) -> Bool {
        var count = count
        while count >= 1000, count.isMultiple(of: 10) { count /= 10 }
        return [50, 100, 200, 250, 500].contains(count)
    }
}
