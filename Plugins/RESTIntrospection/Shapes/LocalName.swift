/// Derives a field's local name for the config, by the same rule as the host.
enum LocalName {
    /// Returns the members' names joined in the style of the first, with letters, digits and `_` only.
    static func make(_ path: [String]) -> String {
        let parts = path.map { part in
            let kept = part.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") ? $0 : "_" }
            return String(kept).trimmingUnderscores
        }.filter { !$0.isEmpty }
        guard let first = parts.first else { return "field" }
        let hasUnderscores = path.contains { $0.contains("_") } || path.allSatisfy { $0.lowercased() == $0 }
        let rest = parts.dropFirst().map { hasUnderscores ? "_" + $0 : $0.prefix(1).uppercased() + $0.dropFirst() }
        let name = first + rest.joined()
        return name.first?.isNumber == true ? "_" + name : name
    }
}

extension String {
    fileprivate var trimmingUnderscores: String {
        let start = drop { $0 == "_" }
        return String(String(start.reversed().drop { $0 == "_" }).reversed())
    }
}
