internal import BMO
internal import RecordBatch
internal import StoreContract

/// How many edits a push would send, and what would become of the others.
struct DryPush {
    /// The edits that would be sent.
    private let ready: Int
    /// Those that a push would not send now.
    private let waiting: Int
    /// Those that may have arrived; a push asks the remote first.
    private let unknown: Int
    /// Those that the configuration or the bridge does not allow to be sent.
    private let faulty: Int
    private let refused: Int
    private let conflicts: Int

    /// - Parameters:
    ///   - requests: The pending edits.
    ///   - refused: The numbers of those that their bridge would refuse.
    ///   - kept: The states of the other edits.
    init(_ requests: [Workspace.PendingRequest], refused: Set<Int64>, kept: [OutboxEntry.State]) {
        let valid = requests.filter { $0.fault == nil && !refused.contains($0.entry.id) }
        faulty = requests.count - valid.count
        unknown = valid.count { [.unknown, .sending].contains($0.entry.state) }
        waiting = valid.count { $0.waits != nil }
        ready = valid.count - unknown - waiting
        self.refused = kept.count { $0 == .refused }
        conflicts = kept.count { $0 == .conflict }
    }

    var text: String {
        let kept = refused + conflicts
        var words = "dry run: \(Terminal.count(ready, "edit", "edits")) would be sent"
        if waiting > 0 { words += ", \(Terminal.count(waiting, "waits", "wait"))" }
        if unknown > 0 { words += ", \(unknown) of unknown outcome would be looked up" }
        if faulty > 0 { words += ", \(faulty) cannot be" }
        if kept > 0 { words += ", \(Terminal.count(kept, "stays", "stay")) as refused or in conflict" }
        return "\(words); nothing was sent"
    }

    var json: String {
        RecordBatchWriter.json { writer in
            writer.member("outcome", "dry_run")
            writer.member("ready", ready)
            writer.member("waits", waiting)
            writer.member("unknown", unknown)
            writer.member("faulty", faulty)
            writer.member("refused", refused)
            writer.member("conflict", conflicts)
        }
    }
}
