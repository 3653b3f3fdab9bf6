package import Mapping
internal import RecordBatch
package import StoreContract

/// The status, the quarantine, stubs, and fields that nothing reads.
extension TableStore {
    /// Returns the status of each entity of the model.
    package func status() throws -> [EntityStatus] {
        try read { tables in try model.entities.map { try tables.status(of: $0) } }
    }

    /// Returns the keys of an entity's stubs as JSON arrays, in order.
    package func stubs(of entity: String) throws -> [String] {
        guard let index = model.index(of: entity), model.entities[index].root == index else { return [] }
        return try read { try $0.stubs(of: index) }.map { ExactText(JSONText.key($0).string) }.sorted().map(\.string)
    }

    /// Returns the quarantined records, oldest first.
    package func quarantined(entity: String?) throws -> [QuarantineEntry] {
        try readOnce { try $0.quarantined(entity: entity, notSeenSince: nil) }
    }

    /// Returns the number of an entity's records quarantined since `instant`; 0 if that is empty.
    package func quarantinedCount(of entity: String, since instant: String) throws -> Int {
        guard !instant.isEmpty else { return 0 }
        return try readOnce { try $0.quarantinedCount(of: entity, since: instant) }
    }

    /// Removes a record from quarantine, as part of the open page.
    package func removeQuarantined(_ id: Int64) throws { try keepBooks { try $0.release([id]) } }

    /// Removes the quarantined records of an entity that a complete scan, begun at `instant`, did not list again.
    package func releaseQuarantine(
        of entity: String, notSeenSince instant: String,
        where isListed: (_ record: (representation: String, cutFrom: Int?)) -> Bool
    ) throws {
        let old = try readOnce { try $0.quarantined(entity: entity, notSeenSince: instant) }
        let released = old.filter { isListed(($0.record.representation, $0.record.cutFrom)) }.map(\.id)
        guard !released.isEmpty else { return }
        try keepBooks { try $0.release(released) }
    }

    /// Returns the fields of remote records that nothing reads, by entity and path.
    package func unknownFields(since instant: String) throws -> [UnknownFieldRecord] {
        try readOnce { try $0.unknownFields(since: instant) }
    }

    /// Returns the values in the column of unknown fields that are not null; empty if the entity has no such column.
    package func extraValues(of layout: EntityLayout, limit: Int) throws -> [ExtraValue] {
        guard layout.extra != nil else { return [] }
        var values: [ExtraValue] = []
        // Each text has at least one member; some may be null.
        for text in try read({ try $0.extraTexts(of: layout, limit: limit) }) where values.count < limit {
            let batch = try JSONParser.batch(text)
            withExtendedLifetime(batch) {
                for (name, value) in batch[0].members where value.tag != .null {
                    values.append(ExtraValue(name: name, value))
                }
            }
        }
        return Array(values.prefix(limit))
    }

    // MARK: - Members

    /// Returns the members that the records of a listing have had.
    package func members(of listing: MemberListing) throws -> Set<ListedMember> {
        let known = try readOnce { try $0.members(of: listing) }.filter { $0.request == listing.request }
        return Set(known.compactMap(member))
    }

    /// Marks the members that no record of a complete listing had any more.
    package func noteMissing(in listing: MemberListing, seen: Set<ListedMember>) throws -> [MissingMember] {
        let present = Set(seen.filter(\.path.isEmpty).map(\.entity))
        let gone = try readOnce { try $0.members(of: listing) }.filter { known in
            guard !known.isGone, let member = member(known) else { return false }
            return present.contains(member.entity) && !seen.contains(member)
        }
        guard !gone.isEmpty else { return [] }
        withState { $0.notedMembers = [:] }
        try keepBooks { try $0.markGone(gone, in: listing) }
        return gone.compactMap { known in
            member(known).map { MissingMember(member: $0, isOfOtherRequest: known.request != listing.request) }
        }.sorted { ExactText($0.member.path) < ExactText($1.member.path) }
    }

    private func member(_ known: NotedMember) -> ListedMember? {
        model.index(of: known.entity).map { ListedMember(entity: $0, path: known.path) }
    }
}

extension ExtraValue {
    /// Creates a value with the type's name that SQL's JSON functions give it.
    fileprivate init(name: String, _ value: BatchValue) {
        switch value.tag {
        case .array: self.init(name: name, type: "array")
        case .object: self.init(name: name, type: "object")
        case .bool: self.init(name: name, type: value.bool ? "true" : "false", text: value.bool ? "1" : "0")
        case .int64: self.init(name: name, type: "integer", text: String(value.int64))
        case .decimal, .double: self.init(name: name, type: "real", text: value.json)
        default: self.init(name: name, type: "text", text: value.string)
        }
    }
}
