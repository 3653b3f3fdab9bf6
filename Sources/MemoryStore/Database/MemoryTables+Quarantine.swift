internal import StoreContract

/// Quarantine, unknown fields and members.
extension MemoryTables {
    /// The maximum number of unknown fields kept per entity: a remote may use values as names.
    private static let mostFields = 1_000

    /// Stores a record; one that fails repeatedly for the same reason is stored once.
    func quarantine(_ record: QuarantinedRecord) {
        func isSame(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }
        let known = state.quarantine.firstIndex {
            $0.record.entity == record.entity && isSame($0.record.reason, record.reason)
                && isSame($0.record.representation, record.representation)
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
        let path = known.count < Self.mostFields || known[path] != nil ? path : "(further fields)"
        if known[path] == nil { state.unknownFields[entity, default: [:]][path] = Clock.now() }
    }

    func noteMember(_ path: String, of entity: String, in listing: MemberListing) {
        let name = DatabaseState.MemberName(
            listing: listing.entity, source: listing.source, entity: entity, path: path)
        state.members[name] = DatabaseState.Member(request: listing.request)
    }
}
