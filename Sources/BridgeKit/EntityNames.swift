internal import RecordBatch

/// The local names of an entity, which a judgement holds those against that a section uses.
public struct EntityNames: Sendable, Equatable {
    /// What an object of the entity has: its attributes, and the columns of its relationships to one.
    public var fields: [String]
    /// What its key is made of; none where its objects have no key.
    public var key: [String]

    /// Names.
    public init(fields: [String], key: [String]) {
        self.fields = fields
        self.key = key
    }

    init(_ record: BridgeOptions) { self.init(fields: record.strings("fields"), key: record.strings("key")) }

    /// The fault of a name that is none of `names`; nil where it is one.
    ///
    /// - Parameters:
    ///   - name: What the section says; of a path with dots the first name counts.
    ///   - names: The names that there are, such as ``fields``.
    ///   - option: Where the section says it, such as `write.if_match`.
    ///   - words: The name as the section has it, such as `{object.nmae}`; nil for the name in quotes.
    public static func fault(
        _ name: String, among names: [String], option: String, words: String? = nil
    ) -> SectionFault? {
        let first = name.split(separator: ".", omittingEmptySubsequences: false).first.map(String.init) ?? name
        guard !names.contains(first) else { return nil }
        return SectionFault(
            key: option,
            message: "\(option): \(words ?? "\"\(name)\"") names no attribute" + NearestName.question(names, to: first),
            remedy: "there are: \(NearestName.list(names, to: first))")
    }
}
