/// Numbers for people.
enum NumberText {
    /// Returns a number with its noun: `1 page`, `2 pages`.
    static func count(_ number: Int, _ one: String, _ many: String) -> String {
        "\(grouped(number)) \(number == 1 ? one : many)"
    }

    /// Returns a number with a thin space between thousands.
    static func grouped(_ number: Int) -> String {
        var digits = Array(String(number.magnitude))
        var place = digits.count - 3
        while place > 0 {
            digits.insert("\u{202F}", at: place)
            place -= 3
        }
        return (number < 0 ? "-" : "") + String(digits)
    }
}
