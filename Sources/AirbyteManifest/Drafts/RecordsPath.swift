internal import Model

/// Writes the path of a member in the syntax of RFC 9535.
enum RecordsPath {
    static func text(_ names: [String]) -> String {
        names.reduce(into: "$") { out, name in
            if name == "*" {
                out += "[*]"
            } else if Int(name).map({ $0 >= 0 }) ?? false {
                out += "[\(name)]"
            } else if isPlain(name) {
                out += ".\(name)"
            } else {
                out += "['" + name.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "']"
            }
        }
    }

    private static func isPlain(_ name: String) -> Bool {
        guard let first = name.first, first.isLetter || first == "_" else { return false }
        return name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    }
}
