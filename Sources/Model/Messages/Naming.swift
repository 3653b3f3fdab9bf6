/// The rules for names of tables and columns.
enum Naming {
    /// Returns whether `name` is `[A-Za-z_][A-Za-z0-9_]*`.
    static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.utf8.first, isLetter(first) else { return false }
        return name.utf8.allSatisfy { isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// Returns why `name` cannot be a table or column, with a remedy; nil if it can.
    static func fault(_ name: String, what: String) -> (message: String, remedy: String)? {
        let lowercased = name.lowercased()
        if name.isEmpty { return ("the name of the \(what) is empty", "give it a name") }
        if !isIdentifier(name) {
            return (
                "\(quoted(name)) is not a valid name for the \(what)",
                "use letters A-Z and a-z, digits and _, and do not begin with a digit"
            )
        }
        for prefix in ["bmo_", "sqlite_"] where lowercased.hasPrefix(prefix) {
            return (
                "the name of the \(what) \(quoted(name)) begins with \(prefix), which is reserved",
                "choose another name"
            )
        }
        if what != "entity", ["rowid", "_rowid_", "oid"].contains(lowercased) {
            return (
                "the name of the \(what) \(quoted(name)) is SQLite's own name for the row number",
                "choose another name and add \"from: \(name)\""
            )
        }
        return nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            || byte == UInt8(ascii: "_")
    }
}
