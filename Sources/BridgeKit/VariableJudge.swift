public import RecordBatch

/// Holds the variables of a section against the names that there are: `{parent.NAME}`, and in writes `{object.NAME}` and
/// `{key.NAME}`.
///
/// What such a variable without a value stands in is mostly left out without a word.
public struct VariableJudge: Sendable {
    private let names: EntityNames?
    private let parent: BridgeOptions?

    /// - Parameters:
    ///   - names: ``FetchRequest/names``.
    ///   - parent: ``FetchRequest/parent``.
    public init(names: EntityNames?, parent: BridgeOptions?) {
        self.names = names
        self.parent = parent
    }

    /// The faults of all variables in the texts of a value, each once.
    ///
    /// - Parameters:
    ///   - option: Where the section has the value, such as `write.create.query`.
    ///   - isWrite: Whether it stands where an object is written.
    public func faults(in value: BatchValue, option: String, isWrite: Bool) -> [SectionFault] {
        Self.variables(in: value).compactMap { fault(of: $0, option: option, isWrite: isWrite) }
    }

    /// What stands in braces in the texts of a value and may name a variable, each once.
    public static func variables(in value: BatchValue) -> [String] {
        var names: [String] = []
        for piece in value.json.split(separator: "{", omittingEmptySubsequences: false).dropFirst() {
            let name = String(piece.prefix { $0 != "}" })
            let isName = name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
            if isName, piece.contains("}"), !names.contains(name) { names.append(name) }
        }
        return names
    }

    /// The fault of one variable; nil for one that does not name its source, and where it may have a value.
    public func fault(of name: String, option: String, isWrite: Bool) -> SectionFault? {
        guard let dot = name.firstIndex(of: "."), dot > name.startIndex else {
            guard name == "key", isWrite, let key = names?.key, key.count > 1 else { return nil }
            return SectionFault(
                key: option, message: "\(option): {key} stands for a key of one part, and this one has \(key.count)",
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
            return EntityNames.fault(rest, among: parent.names, option: option, words: words)
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
