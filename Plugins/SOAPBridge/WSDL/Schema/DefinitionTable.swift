/// Definitions by qualified name, or by local name alone if a reference has a wrong namespace.
///
/// Lookups take constant time: a document of a few megabytes may have a hundred thousand definitions and as many
/// dangling references.
struct DefinitionTable<Value> {
    /// All definitions.
    private(set) var all: [QName: Value] = [:]
    private var names: [String: [QName]] = [:]

    subscript(name: QName) -> Value? {
        get { all[name] }
        set {
            let isKnown = all[name] != nil
            all[name] = newValue
            if newValue == nil {
                names[name.local]?.removeAll { $0 == name }
            } else if !isKnown {
                names[name.local, default: []].append(name)
            }
        }
    }

    /// Returns the names with this local part, in the order of their insertion.
    func names(local: String) -> [QName] { names[local] ?? [] }

    /// Returns the only definition with this local part; nil if there are none or several.
    func only(local: String) -> (name: QName, value: Value)? {
        guard let alike = names[local], alike.count == 1, let value = all[alike[0]] else { return nil }
        return (alike[0], value)
    }
}

extension DefinitionTable: Sendable where Value: Sendable {}
