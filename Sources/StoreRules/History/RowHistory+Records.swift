package import Mapping
internal import Model
package import StoreContract

extension RowHistory {
    /// Returns what runs did to a row, newest first; a first load is one event for all rows.
    ///
    /// - Parameters:
    ///   - records: The changes of the row, and the loads of its table.
    ///   - runs: The runs that are kept.
    package static func events(
        _ records: [ChangeRecord], of runs: [RunRecord], _ model: CompiledModel
    ) -> [Event] {
        var events: [Event] = []
        for (id, group) in Dictionary(grouping: records, by: \.run).sorted(by: { $0.key > $1.key }) {
            guard let run = runs.last(where: { $0.id == id }), let first = group.first else { continue }
            let change =
                group.allSatisfy { $0.change == .loaded }
                ? RowChange(load: first) : RowChange(group.filter { $0.key != nil }, model)
            if let change { events.append(Event(run: id, kind: run.kind, started: run.started, change: change)) }
        }
        // Events before the row was inserted belong to an earlier row with the same key; a load of the table does not
        // concern a row inserted later.
        if let creation = events.firstIndex(where: { $0.change.kind == .inserted || $0.change.kind == .stubbed }) {
            let first = events[creation].run
            events.removeAll { $0.change.kind == .loaded && $0.run < first }
        }
        return events
    }

    /// Adds the sources of the columns; those that no other source wrote belong to the entity's own listing.
    package mutating func addSources(
        _ records: [ProvenanceRecord], _ layout: EntityLayout, in model: CompiledModel
    ) {
        // A row created locally has a record without columns until a listing includes it.
        groups = records.filter { !$0.columns.isEmpty }.sorted { ($0.lastRun ?? 0) < ($1.lastRun ?? 0) }.map { record in
            Group(
                bridge: record.bridge, scan: record.scan, isListing: false,
                columns: model.entities[layout.root].fields.map(\.name).filter(record.columns.contains),
                firstRun: record.firstRun, lastRun: record.lastRun, location: record.location)
        }
        isListed = (records.isEmpty || records.contains(where: \.isListed)) && !isStub
        guard values != nil else {
            // The load of a table says nothing about a row that does not exist.
            if events.allSatisfy({ $0.change.kind == .loaded }) { events = [] }
            return
        }
        guard !isStub, isListed else { return }
        let others = Set(groups.flatMap(\.columns))
        let columns = layout.columns.map(\.name).filter { !others.contains($0) }
        guard !columns.isEmpty else { return }
        let family = model.entities[layout.root].kinds
        let own = events.filter { event in
            event.kind != "undo" && family.contains(event.change.scan ?? layout.name)
                && (event.change.kind == .loaded || event.change.columns.contains { columns.contains($0.name) })
        }
        groups.insert(
            Group(
                bridge: model.model.entities[layout.index].bridge, scan: layout.name, isListing: true,
                columns: columns, firstRun: own.last?.run, lastRun: own.first?.run,
                location: own.first.flatMap { $0.change.kind == .loaded ? nil : $0.change.location }), at: 0)
    }
}
