/// The tag resolution of YAML 1.2.2, section 10.3.2.
///
/// Unlike YAML 1.1, it reads `NO` and `12:30` as texts.
enum CoreSchema {
    static func resolve(_ text: String) -> ConfigValue {
        switch text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        case ".nan", ".NaN", ".NAN": return .double(.nan)
        case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF": return .double(.infinity)
        case "-.inf", "-.Inf", "-.INF": return .double(-.infinity)
        default: return number(text) ?? .string(text)
        }
    }

    private static func number(_ text: String) -> ConfigValue? {
        guard let first = text.utf8.first, first <= UInt8(ascii: "9"), text.utf8.count <= 64 else { return nil }
        if text.hasPrefix("0x") {
            return Int64(text.dropFirst(2), radix: 16).flatMap {
                text.utf8.contains(UInt8(ascii: "-")) ? nil : .int($0)
            }
        }
        if text.hasPrefix("0o") {
            return Int64(text.dropFirst(2), radix: 8).flatMap { text.utf8.contains(UInt8(ascii: "-")) ? nil : .int($0) }
        }
        guard isDecimal(Array(text.utf8)) else { return nil }
        if let integer = Int64(text) { return .int(integer) }
        return Double(text).map { .double($0) }
    }

    // [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
    private static func isDecimal(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        func digits() -> Int {
            let count = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
            rest = rest.dropFirst(count)
            return count
        }
        func take(_ wanted: String) -> Bool {
            guard let byte = rest.first, wanted.utf8.contains(byte) else { return false }
            rest = rest.dropFirst()
            return true
        }
        _ = take("+-")
        let whole = digits()
        let fraction = take(".") ? digits() : 0
        guard whole > 0 || fraction > 0 else { return false }
        if take("eE") {
            _ = take("+-")
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty
    }
}
