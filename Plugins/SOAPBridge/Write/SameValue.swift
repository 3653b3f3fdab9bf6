internal import BridgeKit
internal import RecordBatch
internal import TextFormats

/// Compares two values of the remote, regardless of their notation.
enum SameValue {
    /// Returns the path of the first value that differs; nil if all are equal.
    static func difference(_ before: InputValue, _ now: InputValue?, path: String = "") -> String? {
        switch before {
        case .object(let members):
            for member in members {
                let place = path.isEmpty ? member.name : "\(path)/\(member.name)"
                if let found = difference(member.value, now?.value(at: [member.name]), path: place) { return found }
            }
            return nil
        case .array(let list):
            let others = now?.elements ?? []
            guard list.count == others.count else { return path }
            return zip(list, others).lazy.compactMap { difference($0, $1, path: path) }.first
        case .bytes(let bytes):
            let text = (now?.scalar ?? "").filter { !$0.isWhitespace }
            return text == BinaryText.base64(bytes) || text.uppercased() == BinaryText.hex(bytes) ? nil : path
        default:
            guard let text = (now ?? .null).scalar else { return path }
            return isSame(before.scalar ?? "", text) ? nil : path
        }
    }

    /// Returns whether two texts are the same text, number, boolean or instant.
    static func isSame(_ a: String, _ b: String) -> Bool {
        if a == b { return true }
        let (a, b) = (a.trimmingWhiteSpace, b.trimmingWhiteSpace)
        if a == b { return true }
        if let a = number(a), let b = number(b) { return a == b }
        if let a = flag(a), let b = flag(b) { return a == b }
        if let a = ISODate(a), let b = ISODate(b) { return a.microseconds == b.microseconds }
        return false
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
}
