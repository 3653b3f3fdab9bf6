internal import Importer
internal import Model
internal import SystemCalls

/// How many more records of an entity's scans in one sync may be quarantined; scans by parent share the budget.
final class QuarantineBudget: Sendable {
    let limit: Int
    private let state: Mutex<QuarantineRoom>

    init(of entity: Entity) {
        limit = entity.quarantineLimit
        state = Mutex(QuarantineRoom(limit: entity.quarantineLimit))
    }

    /// The rest of the budget.
    var room: QuarantineRoom { state.withLock { $0 } }

    /// Changes the rest of the budget.
    fileprivate func change(_ body: (inout QuarantineRoom) -> Void) { state.withLock { body(&$0) } }
}

/// What the scan of one listing takes of its entity's budget.
///
/// A scan that starts over brings the same records again, which take the same room: it gives back what it had taken.
final class ListingQuarantine: Sendable {
    private let budget: QuarantineBudget
    private let taken = Mutex((records: 0, bytes: 0))

    init(_ budget: QuarantineBudget) { self.budget = budget }

    var limit: Int { budget.limit }
    var room: QuarantineRoom { budget.room }

    /// Counts the quarantined records of a committed page.
    func take(_ page: PageImport) { take { $0.take(page) } }

    /// Counts records that an interrupted scan quarantined earlier.
    func take(_ count: Int) { take { $0.records -= count } }

    private func take(_ body: (inout QuarantineRoom) -> Void) {
        budget.change { room in
            let before = room
            body(&room)
            let (records, bytes) = (before.records - room.records, before.bytes - room.bytes)
            taken.withLock { $0 = ($0.records + records, $0.bytes + bytes) }
        }
    }

    /// Gives back what the scan has taken, as it begins at the start of the listing.
    func startOver() {
        budget.change { room in
            taken.withLock { taken in
                room.records += taken.records
                room.bytes += taken.bytes
                taken = (0, 0)
            }
        }
    }
}

/// The failure of a scan with too many records that could not be imported.
struct QuarantineFull: Error, CustomStringConvertible {
    let limit: Int
    /// The records that were kept of the page that exceeded the limit.
    let samples: [QuarantinedRecord]
    let isOfBytes: Bool

    var description: String { "more records than quarantine_limit (\(limit)) could not be imported" }

    init(_ overflow: QuarantineOverflow, limit: Int) {
        self.limit = limit
        samples = overflow.samples
        isOfBytes = overflow.isOfBytes
    }
}

extension SyncFailure {
    /// Creates the failure of a scan where more records than `quarantine_limit` allows could not be imported.
    init(_ full: QuarantineFull, entity: Entity, bridge: String, page: Int?) {
        let size = QuarantineRoom(limit: full.limit).bytes >> 20
        let many =
            full.isOfBytes
            ? "the records that could not be imported take more than \(size) MiB"
            : "more than \(full.limit) records could not be imported"
        let first = full.samples.first.map { "; one of them: \($0.reason)" } ?? ""
        self.init(
            entity: entity.name, bridge: bridge, page: page, code: "quarantine",
            message: "\(many), so the scan was abandoned and its page rolled back\(first)",
            remedy: "`bmo quarantine \(entity.name)` shows some of them; correct the mapping, or raise "
                + "\"quarantine_limit\" of \(entity.name) (\(full.limit) now)",
            location: full.samples.first?.location, remote: nil)
    }
}
