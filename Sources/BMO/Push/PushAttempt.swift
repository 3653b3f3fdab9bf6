internal import StoreContract

/// The result of an attempt to send an edit, or to verify whether it arrived, and what it means for the push.
struct PushAttempt: Sendable {
    /// The number of the outbox entry.
    let entry: Int64
    /// The edit's outcome; nil if it must not be sent any more, because it was dropped or a conflict was found meanwhile.
    var edit: PushReport.Edit?
    /// Whether the edit can be sent again in this push, because its obstacle is gone.
    var isDueAgain = false
    /// The edit's bridge, if it is currently unusable, so that other edits need not be tried.
    var unusableBridge: String?

    /// Creates an attempt that was not made.
    init(entry: Int64) { self.entry = entry }

    /// Creates an attempt with an outcome.
    init(_ edit: PushReport.Edit, isDueAgain: Bool = false, unusableBridge: String? = nil) {
        entry = edit.entry
        self.edit = edit
        self.isDueAgain = isDueAgain
        self.unusableBridge = unusableBridge
    }
}
