/// Assigns unique names for tables and columns.
package struct LocalNames {
    private var taken: Set<String> = []
    /// The first number that may be free behind a name: thousands of names may become the same one.
    private var numbers: [String: Int] = [:]

    package init() {}

    /// Returns an unused name like `wanted`; SQLite's names are case-insensitive.
    package mutating func claim(_ wanted: String) -> String {
        var base = Self.identifier(wanted)
        let lower = base.lowercased()
        if ["rowid", "_rowid_", "oid"].contains(lower) || lower.hasPrefix("bmo_") || lower.hasPrefix("sqlite_") {
            base = "_" + base
        }
        var name = base
        guard !taken.insert(name.lowercased()).inserted else { return name }
        let key = name.lowercased()
        var number = numbers[key, default: 2]
        repeat {
            name = "\(base)_\(number)"
            number += 1
        } while !taken.insert(name.lowercased()).inserted
        numbers[key] = number
        return name
    }

    /// Makes names unavailable.
    package mutating func reserve(_ names: [String]) { taken.formUnion(names.map { $0.lowercased() }) }

    /// Returns a dot path as a name: `address.city` becomes `address_city`.
    package static func local(_ path: String) -> String {
        identifier(path.replacing("\\.", with: "_").replacing(".", with: "_").replacing("\\[", with: "["))
    }

    /// Returns the name with only letters, digits and `_`, and no leading digit.
    package static func identifier(_ name: String) -> String {
        let plain = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") ? $0 : "_" })
        var text = plain.drop { $0 == "_" }
        while text.last == "_" { text.removeLast() }
        if text.isEmpty { return "field" }
        return text.first?.isNumber == true ? "_\(text)" : String(text)
    }
}
