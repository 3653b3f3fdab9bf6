internal import Mapping
internal import Model
internal import StoreContract

extension StoreCheck {
    /// Opening, locks and migration.
    static let uses = [
        StoreCheck("databases-are-shared", databasesAreShared), StoreCheck("readers-do-not-write", readersDoNotWrite),
        StoreCheck("a-dry-run-leaves-nothing", aDryRunLeavesNothing),
        StoreCheck("a-closed-store-is-closed", aClosedStoreIsClosed),
        StoreCheck("locks-exclude", locksExclude), StoreCheck("tables-are-adapted", tablesAreAdapted),
        StoreCheck("a-migration-keeps-rows", aMigrationKeepsRows),
    ]

    private static func databasesAreShared(_ subject: StoreSubject) throws {
        try expect("whether the database exists before", subject.provider.exists(subject.location), false)
        let first = try subject.open()
        try expect("whether the database exists", subject.provider.exists(subject.location), true)
        let second = try subject.open()
        try first.add(SampleModel.country, ["code": .text("NO")])
        try expect("the rows in another store", try second.rows(SampleModel.country).count, 1)
        try first.store.close()
        try second.store.close()
        try expect("the rows after all stores are closed", try subject.open().rows(SampleModel.country).count, 1)
        try expect("the contents", try subject.table("Country"), ["NO null null null null"])
    }

    private static func readersDoNotWrite(_ subject: StoreSubject) throws {
        try expectError("reading a missing database", .open) { _ = try subject.open(.reading(entities: nil)) }
        try subject.open().add(SampleModel.country, ["code": .text("NO")])
        let reader = try subject.open(.reading(entities: [SampleModel.country]))
        try expect("the rows", try reader.rows(SampleModel.country).count, 1)
        try expectError("a page of a reader", .internal) { _ = try reader.store.beginPage() }
        try expectError("an edit of a reader", .internal) { try reader.edit(.delete, "Country", [.text("NO")]) }
        try expect("the rows afterwards", try reader.rows(SampleModel.country).count, 1)
    }

    private static func aDryRunLeavesNothing(_ subject: StoreSubject) throws {
        let missing = try subject.open(.rehearsing)
        try missing.add(SampleModel.country, ["code": .text("SE")])
        try expect("the rows of a dry run without a database", try missing.rows(SampleModel.country).count, 1)
        try missing.store.close()
        try expect("whether a dry run creates a database", subject.provider.exists(subject.location), false)
        let writer = try subject.open()
        try writer.add(SampleModel.country, ["code": .text("NO")])
        try writer.store.close()
        let rehearsal = try subject.open(.rehearsing)
        try rehearsal.run {
            try rehearsal.add(SampleModel.country, ["code": .text("SE")])
            let page = try rehearsal.begin()
            try page.access { try $0.merge(SampleModel.country, ["code": .text("DK")]) }
            page.transaction.rollback()
        }
        try expect("the rows of a dry run", try rehearsal.rows(SampleModel.country).count, 2)
        try rehearsal.store.close()
        let after = try subject.open()
        try expect("the rows after a dry run", try after.rows(SampleModel.country).count, 1)
        try expect("the runs after a dry run", try after.store.runs(limit: 10).count, 0)
    }

    private static func aClosedStoreIsClosed(_ subject: StoreSubject) throws {
        let session = try subject.open()
        let page = try session.begin()
        try page.access { try $0.merge(SampleModel.country, ["code": .text("NO")]) }
        try session.store.close()
        try session.store.close()
        do {
            _ = try session.rows(SampleModel.country)
            throw StoreFinding(what: "a call of a closed store", expected: "an error", found: "none")
        } catch is StoreError {}
        try expect("an open page of a closed store", try subject.open().rows(SampleModel.country).count, 0)
    }

    private static func locksExclude(_ subject: StoreSubject) throws {
        let lock = try subject.provider.lock(subject.location, command: "first")
        try expectError("a lock that is held", .busy) { _ = try subject.provider.lock(subject.location, command: "x") }
        guard case .held(let holder) = try subject.provider.attemptLock(subject.location, for: .writing, command: "x")
        else { throw StoreFinding(what: "a second lock", expected: "held", found: "taken") }
        try expect("the holder", holder?.command, "first")
        try expect("the holder", subject.provider.lockHolder(of: subject.location, for: .writing)?.command, "first")
        guard case .taken(let push) = try subject.provider.attemptLock(subject.location, for: .pushing, command: "y")
        else { throw StoreFinding(what: "the other lock", expected: "taken", found: "held") }
        push.release()
        lock.release()
        lock.release()
        let session = try subject.open()
        session.store.keep(try subject.provider.lock(subject.location, command: "second"))
        try expect("whether the store has the lock", session.store.hasLock, true)
        try session.store.close()
        let holderAfter = subject.provider.lockHolder(of: subject.location, for: .writing)
        try expect("the holder after the close", holderAfter?.command, nil)
    }

    private static func tablesAreAdapted(_ subject: StoreSubject) throws {
        try subject.open().add(SampleModel.country, ["code": .text("NO"), "name": .text("Norway")])
        subject.closeAll()
        let wider = try SampleModel.compiled(adding: [Attribute(name: "motto")])
        let plan = try subject.provider.migrationPlan(of: subject.location, to: wider)
        try expect("whether a new column is lossless", plan.steps.map(\.isLossless), [true])
        let store = try subject.provider.open(subject.location, model: wider, for: .writing)
        defer { try? store.close() }
        try expect(
            "the columns of the row", try store.rows(of: RowQuery("Country")).map(\.values.count),
            [wider.entities[SampleModel.country].columns.count])
        try expect(
            "the plan afterwards", try subject.provider.migrationPlan(of: subject.location, to: wider).isEmpty, true)
    }

    private static func aMigrationKeepsRows(_ subject: StoreSubject) throws {
        try subject.open().add(
            SampleModel.country, ["code": .text("NO"), "name": .text("47")], ["code": .text("SE"), "name": .text("x")])
        subject.closeAll()
        let numbers = try SampleModel.compiled(nameType: .integer)
        try expectError("tables that do not fit", .schema) {
            try subject.provider.open(subject.location, model: numbers, for: .writing).close()
        }
        let plan = try subject.provider.migrationPlan(of: subject.location, to: numbers)
        try expect("the obstacles", plan.obstacles.count, 1)
        let quick = try subject.provider.schemaPlan(of: subject.location, to: numbers)
        try expect("the steps without costs", quick.steps.map(\.description), plan.steps.map(\.description))
        let backup = subject.location + "-backup"
        let result = try subject.provider.migrate(subject.location, to: numbers, backup: backup)
        try expect("the backup", result.backup, backup)
        try expect("whether the backup exists", subject.provider.exists(backup), true)
        try expect(
            "the converted rows", try subject.table("Country"), ["NO 47 null null null", "SE null null null null"])
        let second = try subject.provider.migrate(subject.location, to: numbers, backup: backup + "2")
        try expect("a second migration", second.backup, nil)
    }
}
