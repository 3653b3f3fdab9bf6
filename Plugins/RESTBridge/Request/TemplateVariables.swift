internal import BridgeKit
internal import RecordBatch

/// What the variables of templates stand for.
///
/// `since`, `parent.NAME`, `object.NAME` and `key.NAME` name their source; a bare name is looked up in the config's
/// `parameters`, then in the object, in its key and in its parent. Dots lead into nested objects. `key` alone is a key of
/// one part.
struct TemplateVariables: Sendable {
    /// The config's `parameters`, those of the section before those of the bridge.
    var parameters: [BridgeOptions] = []
    /// The value of the incremental field from which on records are wanted.
    var since: String?
    /// The local values of the object whose children are wanted, or written.
    var parent: BridgeOptions?
    /// All local values of the object that is written.
    var object: BridgeOptions?
    /// The key of the object that is written.
    var key: BridgeOptions?

    /// The value of a variable; nil where there is none, or null, or an empty text.
    func value(_ name: String) -> String? {
        let names = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let value =
            switch names[0] {
            case "since" where names.count == 1: since
            case "parent" where names.count > 1: Self.find(names.dropFirst(), in: parent)
            case "object" where names.count > 1: Self.find(names.dropFirst(), in: object)
            case "key" where names.count > 1: Self.find(names.dropFirst(), in: key)
            default:
                (parameters + [object, key, parent].compactMap(\.self)).lazy
                    .compactMap { Self.find(names[...], in: $0) }.first
                    ?? onlyKey.flatMap { name == "key" ? Self.find([$0], in: key) : nil }
            }
        return value.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The name of a key's one part.
    private var onlyKey: String? { key.flatMap { $0.names.count == 1 ? $0.names.first : nil } }

    /// The value of a variable that is a number or a bool, as JSON has it.
    func literal(_ name: String) -> JSONTree? {
        let names = (name == "key" ? onlyKey.map { "key.\($0)" } ?? name : name).split(separator: ".").map(String.init)
        guard let last = names.last else { return nil }
        let home: BridgeOptions? =
            switch names[0] {
            case "parent" where names.count > 1: Self.options(names.dropFirst().dropLast(), in: parent)
            case "object" where names.count > 1: Self.options(names.dropFirst().dropLast(), in: object)
            case "key" where names.count > 1: Self.options(names.dropFirst().dropLast(), in: key)
            default:
                parameters.lazy.compactMap { Self.options(names.dropLast(), in: $0) }.first { $0.has(last) }
            }
        return home?.withValue(last) { value in
            guard let value, [.int64, .double, .decimal, .bool].contains(value.tag) else { return nil }
            return JSONTree(value)
        }
    }

    /// Whether a text outside paths means a variable by `{name}`: braces mean other things to other languages.
    func knows(_ name: String) -> Bool {
        name == "since" || name == "key" && onlyKey != nil
            || ["parent.", "object.", "key."].contains { name.hasPrefix($0) }
            || parameters.contains { Self.find(name.split(separator: ".").map(String.init)[...], in: $0) != nil }
    }

    private static func options(_ names: ArraySlice<String>, in options: BridgeOptions?) -> BridgeOptions? {
        guard let name = names.first else { return options }
        return Self.options(names.dropFirst(), in: options?.object(name))
    }

    private static func find(_ names: ArraySlice<String>, in options: BridgeOptions?) -> String? {
        guard let options, let name = names.first else { return nil }
        if names.count == 1 { return options.string(name) }
        return find(names.dropFirst(), in: options.object(name))
    }
}
