internal import TextFormats

/// Compares two scalars of a remote, which may write one value in several ways: 2.5 and 2.50, 1 and true, an instant in two
/// time zones.
package enum SameNotation {
    /// Returns whether two texts are the same text, number, boolean, instant or day.
    ///
    /// A date without a time and a zone is a day: another text is the same if it names this day, in whatever zone.
    package static func isSame(_ a: String, _ b: String) -> Bool {
        if a == b { return true }
        let (a, b) = (trimmed(a), trimmed(b))
        if a == b { return true }
        if let a = number(a), let b = number(b) { return a == b }
        if let a = flag(a), let b = flag(b) { return a == b }
        guard let first = ISODate(a), let second = ISODate(b) else { return false }
        if first.microseconds == second.microseconds { return true }
        guard let day = first.day, day == second.day else { return false }
        return day == a || day == b
    }

    private static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }

    /// Returns a decimal's significant digits; for other numbers those of the shortest representation.
    private static func number(_ text: String) -> String? {
        var rest = text[...]
        let isNegative = rest.first == "-"
        if isNegative || rest.first == "+" { rest = rest.dropFirst() }
        let parts = rest.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }), rest.contains(where: \.isNumber)
        else {
            guard text.first.map({ $0.isNumber || "+-.".contains($0) }) == true, text.count < 40,
                let value = Double(text), value.isFinite
            else { return nil }
            let spelled = "\(value)"
            return spelled.contains("e") ? spelled : number(spelled)
        }
        let whole = parts[0].drop { $0 == "0" }
        var fraction = parts.count == 2 ? parts[1] : ""
        while fraction.last == "0" { fraction.removeLast() }
        let digits = "\(whole).\(fraction)"
        return isNegative && digits != "." ? "-" + digits : digits
    }

    /// Returns the text without leading and trailing white space.
    private static func trimmed(_ text: String) -> String {
        guard let start = text.firstIndex(where: { !$0.isWhitespace }),
            let end = text.lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(text[start...end])
    }
}
