/// What documents define under qualified names, found also by the local name alone, where a reference has a wrong namespace.
///
/// A document of some megabytes may have a hundred thousand definitions and as many references to what it lacks: neither takes a
/// search.
struct DefinitionTable<Value> {
    /// All of it.
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

    /// The names with this local part, in the order in which they came.
    func names(local: String) -> [QName] { names[local] ?? [] }

    /// The only definition with this local part; nil for none and for several.
    func only(local: String) -> (name: QName, value: Value)? {
        guard let alike = names[local], alike.count == 1, let value = all[alike[0]] else { return nil }
        return (alike[0], value)
    }
}

extension DefinitionTable: Sendable where Value: Sendable {}
