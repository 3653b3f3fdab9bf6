internal import RecordBatch

/// The local names of an entity, against which a judgement validates the names that a section uses.
public struct EntityNames: Sendable, Equatable {
    /// The members of the entity's objects: attributes, and the columns of to-one relationships.
    public var fields: [String]
    /// The parts of the key; empty if the objects have no key.
    public var key: [String]
    /// The names that an update may set inside nested objects, if the entity has no `read_one` to read these first.
    public var nested: [String]

    /// Creates the names.
    public init(fields: [String], key: [String], nested: [String] = []) {
        self.fields = fields
        self.key = key
        self.nested = nested
    }

    init(_ record: BridgeOptions) {
        self.init(
            fields: record.strings("fields"), key: record.strings("key"), nested: record.strings("nested"))
    }

    /// Returns the fault of a name that is not one of `names`; nil if it is one.
    ///
    /// - Parameters:
    ///   - name: The name in the section; only the first component of a path with dots counts.
    ///   - names: The valid names, such as ``fields``.
    ///   - option: The option that holds the name, such as `write.if_match`.
    ///   - words: The name as the section spells it, such as `{object.nmae}`; nil for the name in quotes.
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
