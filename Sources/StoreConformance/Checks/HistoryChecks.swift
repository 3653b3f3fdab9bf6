internal import Mapping
internal import Model
internal import StoreContract

extension StoreCheck {
    /// Runs, changes and undo.
    static let history = [
        StoreCheck("runs-are-recorded", runsAreRecorded), StoreCheck("changes-are-recorded", changesAreRecorded),
        StoreCheck("rows-have-a-history", rowsHaveAHistory), StoreCheck("an-undo-restores", anUndoRestores),
        StoreCheck("an-undo-is-refused", anUndoIsRefused), StoreCheck("old-runs-are-forgotten", oldRunsAreForgotten),
    ]

    private static func runsAreRecorded(_ subject: StoreSubject) throws {
        let session = try subject.open()
        let first = try session.run { try session.add(SampleModel.country, ["code": .text("NO")]) }
        try expect("a run without changes", try session.run {}, nil)
        try session.store.beginRun(kind: "retry")
        let kept = try session.store.endRun(outcome: "failed", summary: "{}", always: true)
        let runs = try session.store.runs(limit: 10)
        try expect("the runs, newest first", runs.map(\.id), [kept, first].compactMap { $0 })
        try expect("the kinds", runs.map(\.kind), ["retry", "sync"])
        try expect("the outcomes", runs.map(\.outcome), ["failed", "finished"])
        try expect("the summary", runs[0].summary, "{}")
        try expect("the newest run with changes", try session.store.lastRunWithChanges(), first)
        try session.store.beginRun(kind: "sync")
        try session.add(SampleModel.country, ["code": .text("SE")])
        let second = try subject.open()
        try second.store.beginRun(kind: "sync")
        _ = try second.store.endRun(outcome: "finished", summary: nil, always: true)
        try expect("a run that did not end", try second.store.runs(limit: 2).map(\.outcome), ["finished", "killed"])
    }

    private static func changesAreRecorded(_ subject: StoreSubject) throws {
        let session = try subject.open()
        func changes(_ body: () throws -> Void) throws -> [String] {
            guard let run = try session.run("sync", body) else { return [] }
            var lines: [String] = []
            try session.store.changes(of: run) { change in
                let columns = change.columns.map {
                    "\($0.name): \($0.old?.description ?? "-") -> \($0.new?.description ?? "-")"
                }
                lines.append(
                    "\(change.kind) \(change.entity) \(StoreSession.text(change.key)) [\(columns.joined(separator: ", "))]"
                )
            }
            return lines
        }
        try expect(
            "a first load", try changes { try session.add(SampleModel.country, ["code": .text("NO")]) },
            ["loaded Country  []"])
        let before = try session.store.newestChange()
        try expect(
            "a new row and a changed one",
            try changes {
                try session.add(
                    SampleModel.country, ["code": .text("NO"), "name": .text("Norway")], ["code": .text("SE")])
            }, ["updated Country NO [name: null -> Norway]", "inserted Country SE [code: - -> SE]"])
        try expect("the newest change", try session.store.newestChange() > before, true)
        try expect(
            "a deletion",
            try changes { try session.page { _ = try $0.delete(SampleModel.country, .text("SE")) } },
            ["deleted Country SE [code: SE -> -]"])
        try session.store.beginRun(kind: "sync")
        let mark = try session.store.newestChange()
        try session.add(SampleModel.country, ["code": .text("NO"), "name": .text("Norge")])
        try expect(
            "the changes of the open run", try session.store.changes(after: mark, limit: 10).map(\.kind), [.updated])
        _ = try session.store.endRun(outcome: "finished", summary: nil, always: false)
    }

    private static func rowsHaveAHistory(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.run { try session.add(SampleModel.country, ["code": .text("NO"), "name": .text("x")]) }
        let run = try session.run {
            try session.page { page in
                try page.transaction.setSource(PageSource(bridge: "other", scan: "City", location: "there"))
                try page.merge(SampleModel.country, ["code": .text("NO"), "people": .integer(5)], as: .nested)
            }
        }
        let history = try session.store.history(of: SampleModel.country, key: [.text("NO")])
        try expect("whether the row is listed", history.isListed, true)
        let nested = try required("the nested source", history.groups.first { !$0.isListing })
        try expect("its columns", nested.columns, ["people"])
        try expect("its bridge and scan", [nested.bridge, nested.scan], ["other", "City"])
        try expect("its run", nested.lastRun, run)
        try expect("the events, newest first", history.events.map(\.change.kind), [.updated, .loaded])
        let missing = try session.store.history(of: SampleModel.country, key: [.text("SE")])
        try expect("the values of a missing row", missing.values, nil)
    }

    private static func anUndoRestores(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.run {
            try session.page { page in
                try page.merge(SampleModel.country, ["code": .text("NO"), "name": .text("Norway")])
                for code in ["nb", "nn", "se"] { try page.merge(SampleModel.language, ["code": .text(code)]) }
                try page.merge(SampleModel.city, ["id": .integer(1), "name": .text("Oslo")])
                _ = try page.mergeLinks(SampleModel.country, "languages", of: .text("NO"), [.text("nb"), .text("nn")])
            }
        }
        func contents() throws -> [String] {
            try ["Country", "City", "Language", "Country_languages"].flatMap { try subject.table($0) }
                + session.store.stubs(of: "City")
        }
        let before = try contents()
        let run = try session.run {
            try session.page { page in
                try page.merge(SampleModel.country, ["code": .text("NO"), "name": .null, "capital": .integer(2)])
                _ = try page.ensure(SampleModel.city, .integer(2))
                _ = try page.delete(SampleModel.city, .integer(1))
                _ = try page.mergeLinks(
                    SampleModel.country, "languages", of: .text("NO"), [.text("se"), .text("nb"), .text("nn")])
            }
        }
        let after = try contents()
        let undo = try session.store.undo(run: try required("the run", run))
        try expect("the contents after an undo", try contents(), before)
        try expect("what the undo undid", try session.store.runs(id: undo).first?.undoes, run)
        let redo = try session.store.undo(run: undo)
        try expect("the contents after the undo of an undo", try contents(), after)
        try expect("the kind of an undo", try session.store.runs(id: redo).first?.kind, "undo")
    }

    private static func anUndoIsRefused(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.run { try session.add(SampleModel.country, ["code": .text("NO")], ["code": .text("SE")]) }
        let run = try required(
            "the run",
            try session.run { try session.add(SampleModel.country, ["code": .text("NO"), "name": .text("a")]) })
        try session.run { try session.add(SampleModel.country, ["code": .text("NO"), "name": .text("b")]) }
        do {
            _ = try session.store.undo(run: run)
            throw StoreFinding(what: "the undo of a row that changed later", expected: "a refusal", found: "none")
        } catch let refusal as UndoRefusal {
            try expect("the rows that prevent it", refusal.conflicts.map(\.key), ["[\"NO\"]"])
        }
        try expect("the rows after a refusal", try session.rows(SampleModel.country)[0], "NO b - - -")
        try expectError("the undo of an unknown run", .request) { _ = try session.store.undo(run: 999) }
        let edit = try session.edit(.update, "Country", [.text("SE")], ["name": .text("Sweden")])
        try session.store.dropOutbox([try required("the entry", edit.entry)])
        let drop = try required("the run", try session.store.lastRunWithChanges())
        try expectError("the undo of a drop", .request) { _ = try session.store.undo(run: drop) }
    }

    private static func oldRunsAreForgotten(_ subject: StoreSubject) throws {
        let session = try subject.open()
        for name in ["a", "b", "c"] {
            try session.store.beginRun(kind: "sync")
            try session.add(SampleModel.country, ["code": .text("NO"), "name": .text(name)])
            _ = try session.store.endRun(outcome: "finished", summary: nil, always: false, keeping: .runs(2))
        }
        try expect("the runs that are kept", try session.store.runs(id: nil, limit: nil).count, 2)
        try session.store.beginRun(kind: "sync")
        _ = try session.store.endRun(outcome: "finished", summary: nil, always: true, keeping: .seconds(0))
        try expect("the newest run", try session.store.runs(id: nil, limit: nil).count, 1)
    }
}
