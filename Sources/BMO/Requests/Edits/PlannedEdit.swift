internal import Mapping
internal import StoreContract

/// A local edit that may refer to new objects of the same save, which have no keys yet.
struct PlannedEdit: Sendable {
    /// A referenced object.
    enum Reference: Sendable {
        case key([StoredValue])
        /// The object of the edit at this index of the save.
        case new(Int)
    }

    /// The edit without references to new objects.
    var edit: LocalEdit
    private var references: [(fields: [String], place: Int)] = []
    private var lists: [String: [Reference]] = [:]

    init(_ edit: LocalEdit) { self.edit = edit }

    /// Whether an update changes nothing.
    var isEmpty: Bool { edit.values.isEmpty && edit.links.isEmpty && references.isEmpty }

    /// Sets the columns of a relationship to one.
    mutating func refer(_ fields: [String], to target: Reference?) {
        switch target {
        case .new(let place)?:
            // The columns are named for the checks, too.
            for field in fields { edit.values[field] = .null }
            references.append((fields, place))
        case .key(let key)?: for (field, value) in zip(fields, key) { edit.values[field] = value }
        case nil: for field in fields { edit.values[field] = .null }
        }
    }

    /// Sets a relationship to many.
    mutating func link(_ relationship: String, to targets: [Reference]) {
        let keys = targets.compactMap { if case .key(let key) = $0 { key } else { nil } }
        edit.links[relationship] = keys
        if keys.count < targets.count { lists[relationship] = targets }
    }

    /// Returns the complete edit.
    ///
    /// - Parameter receipts: The receipts of the edits before this one.
    func made(after receipts: [EditReceipt]) -> LocalEdit {
        var whole = edit
        for (fields, place) in references {
            for (field, value) in zip(fields, receipts[place].key) { whole.values[field] = value }
        }
        for (relationship, targets) in lists {
            whole.links[relationship] = targets.map { target in
                switch target {
                case .key(let key): key
                case .new(let place): receipts[place].key
                }
            }
        }
        return whole
    }
}
