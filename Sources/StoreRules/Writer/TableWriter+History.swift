internal import Mapping
package import StoreContract

extension TableWriter {
    /// Records the writes of `body` as a separate run, which ends with the transaction; an outer run continues
    /// afterwards.
    ///
    /// - Returns: The result with the run's ID, which is nil if nothing was recorded.
    package func recording<Result>(
        _ kind: String, undoes: Int64? = nil, _ body: () throws -> Result
    ) throws -> (result: Result, run: Int64?) {
        let outer = (run, source)
        defer { (run, source) = outer }
        source = nil
        run = RunState(
            RunDescription(kind: kind, started: Clock.now(), undoes: undoes, isEdit: true),
            entityCount: model.entities.count)
        let result = try body()
        guard let id = run.id else { return (result, nil) }
        try tables.finishRun(id, outcome: "finished", summary: run.droppedText)
        return (result, id)
    }

    /// Returns the run's ID, after adding it if necessary.
    @discardableResult
    package func runID() throws -> Int64 {
        if let id = run.id { return id }
        guard let description = run.run else { throw StoreError(.internal, "no run has begun") }
        let id = try tables.addRun(description)
        run.id = id
        return id
    }

    /// Returns the ID of the open run, if there is one.
    package func runIDIfAny() throws -> Int64? { run.run == nil ? nil : try runID() }

    /// Notes in the run's summary that a local edit was undone, or dropped in favour of the remote, before it was
    /// pushed.
    package func noteDropped(_ entry: Int64) throws {
        guard run.run != nil else { return }
        try runID()
        run.dropped.append(entry)
    }

    /// Returns whether an insert is recorded; begins the entity's load if its table is empty.
    func recordsInsert(_ root: Int) throws -> Bool {
        guard run.run != nil else { return false }
        switch run.loads[root] {
        case .loading: return false
        case .ordinary: return true
        case .unknown:
            let isEmpty = try tables.isEmpty(root)
            if isEmpty {
                try askAgain(tables.sourceScans(of: model.entities[root].name))
                try tables.forgetProvenance(of: root)
                try record(root, key: nil, .loaded, old: nil, new: nil)
            }
            run.loads[root] = isEmpty ? .loading : .ordinary
            return !isEmpty
        }
    }

    /// Records a change of a row; does nothing outside a run.
    package func record(
        _ root: Int, key: RowKey?, _ change: RowChange.Kind, old: ChangeRecord.Content?, new: ChangeRecord.Content?
    ) throws {
        guard run.run != nil else { return }
        try tables.append(
            ChangeRecord(
                id: 0, run: try runID(), entity: model.entities[root].name, key: key.map { JSONText.key($0).string },
                change: change, old: old, new: new, source: source))
    }

    /// Returns the columns of a row that have a value.
    func present(_ values: [StoredValue], of root: Int) -> ChangeRecord.Content {
        .columns(zip(model.entities[root].fields, values).filter { $1 != .null }.map { (name: $0.name, value: $1) })
    }
}
