internal import BridgeContract
internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract
internal import TextFormats

/// An object whose children are fetched.
struct ParentObject: Sendable {
    /// The index of the relationship that leads to the object; nil where it is the fetched object itself.
    let relationship: Int?
    let key: [StoredValue]
    /// The key as a JSON array.
    let text: String
    /// Its values by local names, as a batch of one object.
    let values: RecordBatch
    /// Its values in the form of a request.
    var options: BridgeOptions? { BridgeOptions(batch: values) }
    /// What its scan has to know before it asks the remote; nil if that was not read yet.
    var start: ScanStart?
    /// What tells whether the object has changed since its children were scanned; nil where all parents are scanned.
    var state: String?

    init(_ values: [StoredValue], _ layout: EntityLayout, relationship: Int?) throws {
        self.relationship = relationship
        key = layout.key.map { values[$0] }
        text = JSONText.key(key).string
        let writer = RecordBatchWriter()
        writer.object {
            for (field, value) in zip(layout.fields, values) {
                writer.key(field.name)
                switch value.form {
                case .null: writer.null()
                case .integer(let value) where field.type == .boolean: writer.bool(value != 0)
                case .integer(let value): writer.int64(value)
                case .real(let value): writer.double(value)
                case .text(let value): writer.text(value)
                case .bytes(let value): value.withUnsafeBytes { writer.bytes($0) }
                }
            }
        }
        self.values = try writer.finish()
    }
}

extension ScanPlan {
    /// Returns the state of a parent: a short text that changes with its values; nil where all parents are scanned.
    ///
    /// Where the scan only completes the object itself, the values that it brings do not count.
    func state(of values: [StoredValue], _ layout: EntityLayout) -> String? {
        guard let parent, parent.skipsUnchanged else { return nil }
        var own: Set<String> = []
        if parent.relationship == nil {
            own = Set(attributes.map(\.name) + (source?.relationships ?? []).map(\.name))
        }
        var fingerprint = Fingerprint()
        for (field, value) in zip(layout.fields, values)
        where !own.contains(field.relationship.map { layout.toOne[$0].name } ?? field.name) {
            fingerprint.add(field.name)
            fingerprint.separate()
            // A text that looks like a number is another value, and so is null.
            fingerprint.add(JSONText.value(value))
            fingerprint.separate()
        }
        return String(fingerprint.value, radix: 16)
    }
}

/// The parents of a scan that need none, because nothing has changed since their last complete one.
struct DueScans {
    let plan: ScanPlan
    /// Whether everything is requested anyway.
    let isFull: Bool

    /// Returns the parents that are due.
    ///
    /// - Parameter cursors: Returns the cursors of scopes.
    func due(
        _ parents: [ParentObject], _ cursors: ([ScanScope]) throws -> [ScanCursor?]
    ) rethrows -> [ParentObject] {
        guard plan.parent?.skipsUnchanged == true, !isFull, !parents.isEmpty else { return parents }
        let known = try cursors(parents.map { plan.scope(parent: $0) })
        return zip(parents, known).filter { parent, cursor in
            guard let cursor, plan.isOwn(cursor), let state = cursor.parentState else { return true }
            return state != parent.state || plan.isFullDue(since: cursor.fullAt)
        }.map(\.0)
    }
}

extension ScanPlan {
    /// Returns whether a scan has to request everything again after the last one that did; so it has if the clock was
    /// wrong then, since it is not known how long ago that was.
    func isFullDue(since instant: String) -> Bool {
        guard let fullEvery else { return false }
        return instant <= Clock.text(secondsAgo: fullEvery.components.seconds)
            || Clock.isAhead(instant, of: Clock.now())
    }
}
