public import RecordBatch

/// The members of a record of `discover`, each named once for both directions.
///
/// Source: docs/bridges.md, "Discovery".
private enum Member {
    static let name = "name"
    static let fields = "fields"
    static let key = "key"
    static let relationships = "relationships"
    static let parent = "parent"
    static let section = "section"
    static let reasons = "reasons"
    static let proposals = "proposals"
    static let notes = "notes"
    static let obstacle = "obstacle"
    static let absent = "absent"
    static let confidence = "confidence"
    static let reason = "reason"
    static let type = "type"
    static let localName = "as"
    static let transform = "transform"
    static let isReadOnly = "read_only"
    static let one = "to"
    static let many = "many"
    static let path = "from"
    static let inverse = "inverse"
    static let value = "value"
    static let isOfSection = "of_section"
    static let title = "title"
    static let options = "options"
    static let isEmpty = "is_empty"
    static let part = "part"
}

extension EntityDescription {
    /// Writes the description as one record.
    public func write(to writer: RecordBatchWriter) {
        writer.object {
            writer.member(Member.name, name)
            writer.list(Member.fields, fields) { $0.write(to: writer) }
            writer.key(Member.section)
            section.write(to: writer)
            confidence?.write(to: writer)
            if let key { writer.member(Member.key, object: { key.write(to: writer) }) }
            if let parent { writer.member(Member.parent, parent) }
            if let absent { writer.member(Member.absent, absent) }
            if let part { writer.member(Member.part, part) }
            if let obstacle { writer.member(Member.obstacle, obstacle) }
            if !relationships.isEmpty { writer.list(Member.relationships, relationships) { $0.write(to: writer) } }
            if !reasons.isEmpty {
                writer.key(Member.reasons)
                writer.object {
                    for (name, confidence) in reasons {
                        writer.member(name, object: { confidence.write(to: writer) })
                    }
                }
            }
            if !proposals.isEmpty { writer.list(Member.proposals, proposals) { $0.write(to: writer) } }
            if !notes.isEmpty { writer.list(Member.notes, notes) { writer.text($0) } }
        }
    }

    /// Reads a record; nil for one without a name.
    package init?(_ record: BatchValue) {
        guard let name = record[Member.name]?.text else { return nil }
        self.init(name)
        fields = (record[Member.fields]?.elements ?? []).compactMap(Field.init)
        key = record[Member.key].flatMap(Confidence.init)
        relationships = (record[Member.relationships]?.elements ?? []).compactMap(Relationship.init)
        parent = record[Member.parent]?.text
        if let value = record[Member.section], value.tag == .object { section = BridgeOptions(copying: value) }
        for (name, value) in record[Member.reasons]?.members ?? [] {
            if let confidence = Confidence(value) { reasons.append((name, confidence)) }
        }
        confidence = Confidence(record)
        proposals = (record[Member.proposals]?.elements ?? []).compactMap(Proposal.init)
        notes = (record[Member.notes]?.elements ?? []).compactMap(\.text)
        obstacle = record[Member.obstacle]?.text
        absent = record[Member.absent]?.text
        part = record[Member.part]?.text
    }
}

extension EntityDescription.Confidence {
    /// Writes its members into the object of the guess.
    fileprivate func write(to writer: RecordBatchWriter) {
        if let level { writer.member(Member.confidence, level.rawValue) }
        if let reason { writer.member(Member.reason, reason) }
    }

    /// Reads the members of the object of a guess; nil if it has neither.
    fileprivate init?(_ value: BatchValue) {
        let level = value[Member.confidence]?.text.flatMap(Level.init)
        let reason = value[Member.reason]?.text
        guard level != nil || reason != nil else { return nil }
        self.init(level, reason)
    }
}

extension EntityDescription.Field {
    fileprivate func write(to writer: RecordBatchWriter) {
        writer.object {
            writer.member(Member.name, path)
            writer.member(Member.type, type)
            writer.member(Member.key, isKey)
            if let localName { writer.member(Member.localName, localName) }
            if let transform {
                writer.key(Member.transform)
                transform.write(to: writer)
            }
            if isReadOnly { writer.member(Member.isReadOnly, true) }
            confidence?.write(to: writer)
        }
    }

    fileprivate init?(_ value: BatchValue) {
        guard let path = value[Member.name]?.text else { return nil }
        self.init(
            path, value[Member.type]?.text ?? "text", isKey: value[Member.key]?.boolean ?? false,
            localName: value[Member.localName]?.text,
            transform: value[Member.transform].map(EntityDescription.Value.init(copying:)),
            confidence: EntityDescription.Confidence(value),
            isReadOnly: value[Member.isReadOnly]?.boolean ?? false)
    }
}

extension EntityDescription.Relationship {
    fileprivate func write(to writer: RecordBatchWriter) {
        writer.object {
            writer.member(Member.name, name)
            writer.member(isToMany ? Member.many : Member.one, target)
            if let path { writer.member(Member.path, path) }
            if let inverse { writer.member(Member.inverse, inverse) }
            confidence?.write(to: writer)
        }
    }

    fileprivate init?(_ value: BatchValue) {
        let one = value[Member.one]
        guard let name = value[Member.name]?.text, let target = (one ?? value[Member.many])?.text else { return nil }
        self.init(
            name, to: target, isToMany: one == nil, path: value[Member.path]?.text,
            inverse: value[Member.inverse]?.text, confidence: EntityDescription.Confidence(value))
    }
}

extension EntityDescription.Proposal {
    fileprivate func write(to writer: RecordBatchWriter) {
        writer.object {
            writer.member(Member.name, name)
            writer.member(Member.isOfSection, isOfSection)
            writer.key(Member.value)
            value.write(to: writer)
            confidence?.write(to: writer)
        }
    }

    fileprivate init?(_ value: BatchValue) {
        guard let name = value[Member.name]?.text else { return nil }
        self.init(
            name, value[Member.value].map(EntityDescription.Value.init(copying:)) ?? .init { $0.null() },
            isOfSection: value[Member.isOfSection]?.boolean ?? true, confidence: EntityDescription.Confidence(value))
    }
}

/// What a bridge says in `discover` about the API as a whole: a record without a name.
public struct ServiceDescription: Sendable {
    /// The API's title.
    public var title: String?
    /// Options of the bridge that the description of the API determines, such as its URL.
    public var options: BridgeOptions
    /// Facts for the user.
    public var notes: [String]
    /// Whether the bridge understood the description of the API, and it has no entity.
    public var isEmpty: Bool
    /// The part of the API that these are the options of, such as that with another authentication; nil for the main part.
    ///
    /// A part becomes a bridge of its own in the configuration, for the entities that name it.
    public var part: String?

    /// Creates a description.
    public init(title: String? = nil, options: BridgeOptions = .empty, notes: [String] = [], isEmpty: Bool = false) {
        self.title = title
        self.options = options
        self.notes = notes
        self.isEmpty = isEmpty
    }

    /// Writes the description as one record.
    public func write(to writer: RecordBatchWriter) {
        writer.object {
            if let title { writer.member(Member.title, title) }
            if !options.names.isEmpty {
                writer.key(Member.options)
                options.write(to: writer)
            }
            writer.list(Member.notes, notes) { writer.text($0) }
            writer.member(Member.isEmpty, isEmpty)
            if let part { writer.member(Member.part, part) }
        }
    }

    /// Reads a record.
    package init(_ record: BatchValue) {
        self.init(
            title: record[Member.title]?.text, notes: (record[Member.notes]?.elements ?? []).compactMap(\.text),
            isEmpty: record[Member.isEmpty]?.boolean == true)
        part = record[Member.part]?.text
        if let value = record[Member.options], value.tag == .object { options = BridgeOptions(copying: value) }
    }
}

extension RecordBatchWriter {
    /// Writes a member that is an array.
    fileprivate func list<Element>(_ name: String, _ elements: [Element], _ write: (Element) -> Void) {
        member(name, array: { for element in elements { write(element) } })
    }
}
