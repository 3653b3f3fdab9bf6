public import BridgeContract
public import RecordBatch

/// Validates the variables of a section against the known names: `{parent.NAME}`, and in writes `{object.NAME}` and
/// `{key.NAME}`.
///
/// At run time, the part of a section that holds a variable without a value is usually left out silently.
public struct VariableValidator: Sendable {
    private let names: EntityNames?
    private let parent: BridgeOptions?

    /// - Parameters:
    ///   - names: `FetchRequest.names`.
    ///   - parent: `FetchRequest.parent`.
    public init(names: EntityNames?, parent: BridgeOptions?) {
        self.names = names
        self.parent = parent
    }

    /// Returns the faults of all variables in the texts of a value, each once.
    ///
    /// - Parameters:
    ///   - value: The text, or the object or list that contains the texts.
    ///   - option: The option that holds the value, such as `write.create.query`.
    ///   - isWrite: Whether the value is used to write an object.
    public func faults(in value: BatchValue, option: String, isWrite: Bool) -> [SectionFault] {
        Self.variables(in: value).compactMap { fault(of: $0, option: option, isWrite: isWrite) }
    }

    /// Returns the possible variable names in braces in the texts of a value, each once.
    public static func variables(in value: BatchValue) -> [String] {
        var names: [String] = []
        for piece in value.json.split(separator: "{", omittingEmptySubsequences: false).dropFirst() {
            let name = String(piece.prefix { $0 != "}" })
            let isName = name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
            if isName, piece.contains("}"), !names.contains(name) { names.append(name) }
        }
        return names
    }

    /// Returns the fault of one variable; nil for a name without a source, and for a variable that may have a value.
    public func fault(of name: String, option: String, isWrite: Bool) -> SectionFault? {
        guard let dot = name.firstIndex(of: "."), dot > name.startIndex else {
            guard name == "key", isWrite, let key = names?.key, key.count > 1 else { return nil }
            return SectionFault(
                key: option, message: "\(option): {key} stands for a key of one part, but this one has \(key.count)",
                remedy: "use " + key.map { "{key.\($0)}" }.joined(separator: " and "))
        }
        let rest = String(name[name.index(after: dot)...])
        let words = "{\(name)}"
        switch name[..<dot] {
        case "parent":
            guard let parent else {
                return SectionFault(
                    key: option, message: "\(option): \(words) never has a value",
                    remedy: "the entity has no parent: name the relationship to it under parent")
            }
            if let fault = EntityNames.fault(rest, among: parent.names, option: option, words: words) { return fault }
            guard rest.contains(".") else { return nil }
            return SectionFault(
                key: option,
                message:
                    "\(option): \(words) leads into \"\(rest.prefix { $0 != "." })\", but a parent has only columns",
                remedy: "give the parent an attribute that reads that value, and name it here")
        case "object", "key":
            guard isWrite else {
                return SectionFault(
                    key: option, message: "\(option): \(words) never has a value: only a write has an object",
                    remedy: "remove it, or use {since}, {parent.NAME} or a parameter")
            }
            guard let names else { return nil }
            return EntityNames.fault(
                rest, among: name.hasPrefix("key") ? names.key : names.fields, option: option, words: words)
        default: return nil
        }
    }
}
