internal import Mapping
internal import StoreContract
internal import StoreRules

/// The history as an undo reads it.
extension MemoryTables {
    func laterRuns(than run: Int64) -> LaterRuns {
        let undos = state.runs.reversed().compactMap { other in
            other.id > run ? other.undoes.map { (id: other.id, undoes: $0) } : nil
        }
        return LaterRuns(than: run, undos: undos)
    }

    func forEachChange(ofRun run: Int64, newestFirst: Bool, _ body: (ChangeRecord) throws -> Void) throws {
        if newestFirst { return try changes(ofRun: run, after: 0, limit: nil).reversed().forEach(body) }
        var place = 0
        while place < state.changes.count {
            let record = state.changes[place]
            place += 1
            if record.run == run { try body(record) }
        }
    }

    func forEachLaterChange(
        than run: Int64, _ later: LaterRuns,
        _ body: (_ entity: String, _ key: String, _ run: Int64, _ change: RowChange.Kind) throws -> Void
    ) throws {
        var seen: Set<ExactText> = []
        let rows = changes(ofRun: run, after: 0, limit: nil)
            .compactMap { record in record.key.map { (entity: record.entity, key: $0) } }
            .sorted { ($0.entity, ExactText($0.key)) < ($1.entity, ExactText($1.key)) }
        for (entity, key) in rows where seen.insert(ExactText("\(entity) \(key)")).inserted {
            guard let first = laterChange(of: entity, key: key, than: run, later) else { continue }
            try body(entity, key, first.run, first.change)
        }
    }

    func laterChange(of entity: String, key: String, than run: Int64, _ later: LaterRuns) -> LaterChange? {
        let first = state.changes.first {
            $0.run > run && $0.entity == entity && $0.hasKey(key) && !later.cancelled.contains($0.run)
        }
        return first.map { LaterChange(run: $0.run, change: $0.change, isNew: $0.old == nil) }
    }

    func missingTargets(of root: Int, _ toOne: Int) throws -> [RowKey] {
        let relationship = model.entities[root].toOne[toOne]
        let target = model.entities[relationship.target].root
        var missing: [RowKey] = []
        try forEachRow(of: root) { _, _, values in
            let key = Array(values[relationship.firstField..<relationship.firstField + relationship.fieldCount])
            if !key.contains(.null), row(target, key) == nil, !missing.contains(key) { missing.append(key) }
        }
        return missing
    }

    func sourceScans(of entity: String) -> Set<String> { state.sourceScans[entity] ?? [] }

    func forgetScans(ofEntities entities: [String]) { for entity in entities { forgetScans(of: entity, parent: nil) } }
}
