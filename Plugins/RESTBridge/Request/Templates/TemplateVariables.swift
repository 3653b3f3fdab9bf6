internal import BridgeJSON
internal import BridgeKit
internal import RecordBatch

/// The values of template variables.
///
/// `since`, `until`, `user_info.NAME`, `parent.NAME`, `object.NAME` and `key.NAME` name their source. A bare name is looked up in the config's
/// `parameters`, then in the object, its key and its parent. Dots lead into nested objects. `key` alone stands for a
/// key of one part.
struct TemplateVariables: Sendable {
    /// The config's `parameters`, those of the section before those of the bridge.
    var parameters: [BridgeOptions] = []
    /// The value of the incremental field from which to return records.
    var since: String?
    /// The end of the window of time that begins at ``since``.
    var until: String?
    /// The values that the request selects, as a text; nil if the section does not select any, and `.some(nil)` if the
    /// mapping reads all.
    var fields: String??
    /// The values of the slice's variables, from `each`.
    var slice: [String: String] = [:]
    /// The names of the slice's variables, also of those without a value: an open range has no end.
    var sliceNames: Set<String> = []
    /// What the embedding program says about the request.
    var userInfo: BridgeOptions?
    /// Whether each variable of the user info stands for its name, in a section that is only validated.
    var namesUserInfo = false
    /// The local values of the parent whose children are fetched or written.
    var parent: BridgeOptions?
    /// All local values of the object being written.
    var object: BridgeOptions?
    /// The names of ``object`` whose values are JSON texts; in a body, each becomes the JSON value itself.
    var jsonNames: [String] = []
    /// The key of the object being written.
    var key: BridgeOptions?

    /// Returns the value of a variable, or nil if it is unknown, null or an empty text.
    ///
    /// - Parameter keepsEmpty: Whether an empty text of the parent or the user info counts as a value, as in a query.
    func value(_ name: String, keepsEmpty: Bool = false) -> String? {
        let names = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let value =
            switch names[0] {
            case "since" where names.count == 1: since
            case "until" where names.count == 1 && until != nil: until
            case "fields" where names.count == 1 && fields != nil: fields ?? nil
            case let name where names.count == 1 && slice[name] != nil: slice[name]
            case "user_info" where names.count > 1:
                Self.find(names.dropFirst(), in: userInfo) ?? (namesUserInfo ? name : nil)
            case "parent" where names.count > 1: Self.find(names.dropFirst(), in: parent)
            case "object" where names.count > 1: Self.find(names.dropFirst(), in: object)
            case "key" where names.count > 1: Self.find(names.dropFirst(), in: key)
            default:
                (parameters + [object, key, parent].compactMap(\.self)).lazy
                    .compactMap { Self.find(names[...], in: $0) }.first
                    ?? onlyKey.flatMap { name == "key" ? Self.find([$0], in: key) : nil }
            }
        return value.flatMap {
            $0.isEmpty && !(keepsEmpty && (isOfParent(name) || Self.isOfUserInfo(name))) ? nil : $0
        }
    }

    private static func isOfUserInfo(_ name: String) -> Bool { name.hasPrefix("user_info.") }

    /// Whether a variable refers to the parent whose children are fetched.
    private func isOfParent(_ name: String) -> Bool {
        guard let parent, object == nil, key == nil else { return false }
        return name.hasPrefix("parent.") || parent.has(String(name.prefix { $0 != "." }))
    }

    /// Requires a value of the parent, without which the request would return the children of all parents.
    ///
    /// - Parameters:
    ///   - option: The section's option that contains the variable.
    ///   - takesEmpty: Whether an empty text counts as a value.
    /// - Throws: ``SkippedParent`` if it has no value, or ``BridgeError`` if the parent has no such attribute.
    func requireParentValue(_ name: String, option: String, takesEmpty: Bool) throws {
        guard let parent, isOfParent(name), value(name, keepsEmpty: takesEmpty) == nil else { return }
        let field = name.hasPrefix("parent.") ? String(name.dropFirst("parent.".count)) : name
        if let fault = EntityNames.fault(field, among: parent.names, option: option, words: "{\(name)}") {
            throw BridgeError(.configuration, fault.message, remedy: fault.remedy)
        }
        throw SkippedParent(name, option: option, isEmpty: value(name, keepsEmpty: true) != nil)
    }

    /// Requires the values without which a text would mean something else: those of the parent and of the user info.
    ///
    /// - Throws: as ``requireParentValue(_:option:takesEmpty:)``; ``BridgeError`` for a value of the user info.
    func requireValues(in text: String, option: String) throws {
        for name in ValueTemplate.needed(in: text, self) {
            try requireParentValue(name, option: option, takesEmpty: true)
            try requireUserInfo(name, option: option)
        }
    }

    /// What to do about a value of a request's user info that is missing.
    static let userInfoRemedy =
        "give the request a user info with it (a program that embeds bmo does), or put it in ( ) if it is optional"
    /// What to do about a value of an edit's user info that is missing.
    private static let editRemedy =
        "save the edit again with a user info that has it (a program that embeds bmo does), or put it in ( ) if it is optional"

    /// Requires the value of a variable if it is of the user info.
    func requireUserInfo(_ name: String, option: String) throws {
        guard Self.isOfUserInfo(name), value(name, keepsEmpty: true) == nil else { return }
        let isOfEdit = object != nil
        throw BridgeError(
            .configuration, "\(option) needs a value for \(name), and the \(isOfEdit ? "edit" : "request") has none",
            remedy: isOfEdit ? Self.editRemedy : Self.userInfoRemedy)
    }

    /// The name of the key's only part.
    private var onlyKey: String? { key.flatMap { $0.names.count == 1 ? $0.names.first : nil } }

    /// Returns the value of a variable that is a number, a bool or JSON as a JSON value.
    func literal(_ name: String) -> JSONTree? {
        let names = (name == "key" ? onlyKey.map { "key.\($0)" } ?? name : name).split(separator: ".").map(String.init)
        guard let last = names.last else { return nil }
        if names.count == 2, names[0] == "object", jsonNames.contains(last) {
            // A bare scalar is valid JSON, but the parser requires an object.
            let text = object?.string(last).map { Array("{\"value\":\($0)}".utf8) }
            return text.flatMap { try? JSONTree(parsing: $0, what: name)["value"] }
        }
        let home: BridgeOptions? =
            switch names[0] {
            case "user_info" where names.count > 1: Self.options(names.dropFirst().dropLast(), in: userInfo)
            case "parent" where names.count > 1: Self.options(names.dropFirst().dropLast(), in: parent)
            case "object" where names.count > 1: Self.options(names.dropFirst().dropLast(), in: object)
            case "key" where names.count > 1: Self.options(names.dropFirst().dropLast(), in: key)
            default:
                (parameters + [object, key, parent].compactMap(\.self)).lazy
                    .compactMap { Self.options(names.dropLast(), in: $0) }.first { $0.has(last) }
            }
        return home?.withValue(last) { value in
            guard let value, [.int64, .double, .decimal, .bool].contains(value.tag) else { return nil }
            return JSONTree(value)
        }
    }

    /// Whether `{name}` in a text outside paths is a variable.
    ///
    /// Braces have other meanings in other languages.
    ///
    /// - Parameter isPlain: Whether braces in the text are not nested. In another language, such as GraphQL, `{id}` names a
    ///   field, and not the parent's attribute.
    func knows(_ name: String, isPlain: Bool = true) -> Bool {
        name == "since" || name == "fields" && fields != nil || name == "key" && onlyKey != nil
            || name == "until" && until != nil || slice[name] != nil || sliceNames.contains(name)
            || ["parent.", "object.", "key.", "user_info."].contains { name.hasPrefix($0) }
            || parameters.contains { Self.find(name.split(separator: ".").map(String.init)[...], in: $0) != nil }
            || isPlain && isAttribute(String(name.prefix { $0 != "." }))
    }

    /// Whether the object, its key or the parent has an attribute, with a value or without.
    private func isAttribute(_ name: String) -> Bool {
        [object, key, parent].compactMap(\.self).contains { $0.names.contains(name) }
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
