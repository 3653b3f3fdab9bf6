internal import Mapping
internal import StoreContract
internal import StoreRules

/// Quarantine, unknown fields and members.
extension MemoryTables {
    /// The maximum number of unknown fields kept per entity: a remote may use values as names.
    private static let mostFields = 1_000

    /// Stores a record; one that fails repeatedly for the same reason is stored once.
    func quarantine(_ record: QuarantinedRecord) {
        let (reason, representation) = (ExactText(record.reason), ExactText(record.representation))
        let known = state.quarantine.firstIndex {
            $0.record.entity == record.entity && ExactText($0.record.reason) == reason
                && ExactText($0.record.representation) == representation
                && $0.record.fingerprint == record.fingerprint
        }
        if let known {
            state.quarantine[known].record.bridge = record.bridge
            state.quarantine[known].record.page = record.page
            state.quarantine[known].record.record = record.record
            state.quarantine[known].record.location = record.location
            state.quarantine[known].record.source = record.source
            state.quarantine[known].record.parent = record.parent
            state.quarantine[known].record.key = record.key
            state.quarantine[known].lastSeen = Clock.now()
            return
        }
        state.lastQuarantined += 1
        let now = Clock.now()
        state.quarantine.append(
            QuarantineEntry(id: state.lastQuarantined, record: record, firstSeen: now, lastSeen: now))
    }

    func quarantined(entity: String?, notSeenSince instant: String?) -> [QuarantineEntry] {
        state.quarantine.filter { entry in
            (entity == nil || entry.record.entity == entity) && instant.map { entry.lastSeen < $0 } ?? true
        }
    }

    func quarantinedCount(of entity: String, since instant: String) -> Int {
        state.quarantine.count { $0.record.entity == entity && $0.lastSeen >= instant }
    }

    func release(_ ids: [Int64]) { state.quarantine.removeAll { ids.contains($0.id) } }

    func mayHaveQuarantined(_ entity: String) -> Bool { !state.quarantine.isEmpty }

    func release(_ keys: [String], of entities: [String], from source: String?) {
        guard !state.quarantine.isEmpty else { return }
        let keys = Set(keys.map(ExactText.init))
        state.quarantine.removeAll { entry in
            guard entities.contains(entry.record.entity), let key = entry.record.key else { return false }
            return (source == nil || entry.record.source == source) && keys.contains(ExactText(key))
        }
    }

    func noteUnknownField(_ path: String, of entity: String) {
        let known = state.unknownFields[entity] ?? [:]
        var path = ExactText(path)
        if known.count >= Self.mostFields, known[path] == nil { path = ExactText("(further fields)") }
        if known[path] == nil { state.unknownFields[entity, default: [:]][path] = Clock.now() }
    }

    func unknownFields(since instant: String) -> [UnknownFieldRecord] {
        state.unknownFields.sorted { $0.key < $1.key }.flatMap { entity, paths in
            paths.filter { $0.value >= instant }.keys.sorted().map {
                UnknownFieldRecord(entity: entity, path: $0.string)
            }
        }
    }

    private func name(_ path: String, of entity: String, in listing: MemberListing) -> DatabaseState.MemberName {
        DatabaseState.MemberName(
            listing: listing.entity, source: listing.source, entity: entity, path: ExactText(path))
    }

    func noteMembers(_ members: [(entity: String, path: String)], in listing: MemberListing) {
        for member in members {
            state.members[name(member.path, of: member.entity, in: listing)] = DatabaseState.Member(
                request: listing.request)
        }
    }

    func members(of listing: MemberListing) -> [NotedMember] {
        state.members.compactMap { name, value in
            guard name.listing == listing.entity, name.source == listing.source else { return nil }
            return NotedMember(
                entity: name.entity, path: name.path.string, request: value.request, isGone: value.isGone)
        }
    }

    func markGone(_ members: [NotedMember], in listing: MemberListing) {
        for member in members { state.members[name(member.path, of: member.entity, in: listing)]?.isGone = true }
    }
}
