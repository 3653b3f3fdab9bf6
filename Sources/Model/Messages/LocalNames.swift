/// Assigns unique names for tables and columns.
package struct LocalNames {
    private var taken: Set<String> = []

    package init() {}

    /// Returns an unused name like `wanted`; SQLite's names are case-insensitive.
    package mutating func claim(_ wanted: String) -> String {
        var base = Self.identifier(wanted)
        let lower = base.lowercased()
        if ["rowid", "_rowid_", "oid"].contains(lower) || lower.hasPrefix("bmo_") || lower.hasPrefix("sqlite_") {
            base = "_" + base
        }
        var name = base
        var number = 2
        while !taken.insert(name.lowercased()).inserted {
            name = "\(base)_\(number)"
            number += 1
        }
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
        var text = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") ? $0 : "_" })
        while text.hasPrefix("_"), text.count > 1 { text.removeFirst() }
        while text.hasSuffix("_"), text.count > 1 { text.removeLast() }
        if text.isEmpty || text == "_" { return "field" }
        return text.first?.isNumber == true ? "_" + text : text
    }
}
