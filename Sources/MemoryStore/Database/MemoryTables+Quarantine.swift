internal import Mapping
internal import StoreContract

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
        }
        if let known {
            state.quarantine[known].record.bridge = record.bridge
            state.quarantine[known].record.page = record.page
            state.quarantine[known].record.record = record.record
            state.quarantine[known].record.location = record.location
            state.quarantine[known].lastSeen = Clock.now()
            return
        }
        state.lastQuarantined += 1
        let now = Clock.now()
        state.quarantine.append(
            QuarantineEntry(id: state.lastQuarantined, record: record, firstSeen: now, lastSeen: now))
    }

    func noteUnknownField(_ path: String, of entity: String) {
        let known = state.unknownFields[entity] ?? [:]
        var path = ExactText(path)
        if known.count >= Self.mostFields, known[path] == nil { path = ExactText("(further fields)") }
        if known[path] == nil { state.unknownFields[entity, default: [:]][path] = Clock.now() }
    }

    func noteMember(_ path: String, of entity: String, in listing: MemberListing) {
        let name = DatabaseState.MemberName(
            listing: listing.entity, source: listing.source, entity: entity, path: ExactText(path))
        state.members[name] = DatabaseState.Member(request: listing.request)
    }
}
