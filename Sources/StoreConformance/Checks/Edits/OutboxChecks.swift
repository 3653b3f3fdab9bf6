internal import Mapping
internal import StoreContract

extension StoreCheck {
    /// The outbox and its transitions.
    static let outbox = [
        StoreCheck("entries-change-their-state", entriesChangeTheirState),
        StoreCheck("entries-are-sent-in-order", entriesAreSentInOrder),
        StoreCheck("an-acknowledged-edit-is-done", anAcknowledgedEditIsDone),
        StoreCheck("a-new-key-replaces-the-old", aNewKeyReplacesTheOld),
        StoreCheck("a-new-key-may-equal-temporary-ones", aNewKeyMayEqualTemporaryOnes),
        StoreCheck("a-created-object-counts-as-listed-later", aCreatedObjectCountsAsListedLater),
        StoreCheck("earlier-objects-are-known", earlierObjectsAreKnown),
    ]

    private static let failure = OutboxFailure(code: "invalid", message: "no")
    private static let later = "9999-01-01T00:00:00.000000Z"

    private static func entriesChangeTheirState(_ subject: StoreSubject) throws {
        let session = try subject.open()
        let id = try required("the entry", try session.edit(.create, "Country", [], ["code": .text("NO")]).entry)
        func state() throws -> String? { try session.store.outboxEntry(id)?.state.rawValue }
        try expect("a new entry", try state(), "pending")
        let sent = try required("the entry to send", try session.store.markSending(id))
        try expect("an entry that is sent", try state(), "sending")
        try expect("the number of attempts", sent.attempts, 1)
        try expect("an entry that is sent already", try session.store.markSending(id), nil)
        try session.store.settle(id, .waits(until: later, failure))
        try expect("an entry that waits", try state(), "pending")
        try expect("its time", try session.store.outboxEntry(id)?.notBefore, later)
        try session.store.markSending(id)
        try expect("entries of a dead process", try session.store.recoverSending().map(\.id), [id])
        try expect("an unknown outcome", try state(), "unknown")
        try session.store.retryOutbox([id], sendingUnknown: true)
        try expect("an unknown entry that is retried", try state(), "pending")
        try session.store.markSending(id)
        try session.store.settle(id, .refused(failure))
        try expect("a refused entry", try state(), "refused")
        try expect("its failure", try session.store.outboxEntry(id)?.failure, failure)
        try expect("entries in a state", try session.store.outbox(state: .refused).map(\.id), [id])
        try session.store.retryOutbox([id])
        try expect("a refused entry that is retried", try state(), "pending")
        try expectError("an entry that does not exist", .request) { try session.store.retryOutbox([999]) }
        try session.store.settle(999, .refused(failure))
    }

    private static func entriesAreSentInOrder(_ subject: StoreSubject) throws {
        let session = try subject.open()
        let country = try session.edit(.create, "Country", [], ["code": .text("NO")])
        let city = try session.edit(.create, "City", [], ["name": .text("Oslo"), "country": .text("NO")])
        func next(_ instant: String = later, excluding: Set<Int64> = [], among: Set<Int64>? = nil) throws -> Int64? {
            try session.store.nextToSend(at: instant, entities: nil, excluding: excluding, among: among)?.id
        }
        try expect("the first entry", try next(), country.entry)
        try expect("an entry whose object waits for another", try next(excluding: [country.entry ?? 0]), nil)
        let waiting = try required("the entry", try session.store.outboxEntry(city.entry ?? 0))
        try expect(
            "what it waits for", try session.store.blockers(of: waiting).map(\.id), [country.entry].compactMap { $0 })
        try expect(
            "the fields with unconfirmed edits", try session.store.pendingFields(entity: "City", key: city.key),
            ["name", "country"])
        try session.store.settle(country.entry ?? 0, .waits(until: later, failure))
        try expect("an entry before its time", try next("2020-01-01T00:00:00.000000Z"), nil)
        try expect("an entry after its time", try next(), country.entry)
        try expect("an entry among others", try next(among: []), nil)
    }

    private static func anAcknowledgedEditIsDone(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.add(SampleModel.country, ["code": .text("NO"), "name": .text("a")])
        let id = try required(
            "the entry", try session.edit(.update, "Country", [.text("NO")], ["name": .text("b")]).entry)
        try session.store.markSending(id)
        let page = try session.begin()
        try page.access { try $0.transaction.acknowledge(id, key: nil) }
        page.transaction.rollback()
        try expect("the outbox after a rollback", try session.store.outbox().count, 1)
        try session.page { try $0.transaction.acknowledge(id, key: nil) }
        try expect("the outbox", try session.store.outbox().count, 0)
        try expect("whether it was dropped", try session.store.wasDropped(id), false)
        try expect("the row", try session.rows(SampleModel.country), ["NO b - - -"])
        try session.page { try $0.transaction.acknowledge(id, key: nil) }
    }

    private static func aNewKeyReplacesTheOld(_ subject: StoreSubject) throws {
        let session = try subject.open()
        let city = try session.edit(.create, "City", [], ["name": .text("Oslo")])
        try expect("whether the key is temporary", try session.lastEntry().hasTemporaryKey, true)
        let country = try session.edit(
            .create, "Country", [], ["code": .text("NO"), "capital": city.key[0]])
        let id = try required("the entry", city.entry)
        try session.store.markSending(id)
        try session.page { page in
            try page.transaction.acknowledge(id, key: [.integer(7)])
            try page.merge(SampleModel.city, ["id": .integer(7), "name": .text("Oslo")], as: .nested)
        }
        try expect("the object", try session.rows(SampleModel.city), ["7 Oslo -"])
        try expect("a reference to it", try session.rows(SampleModel.country), ["NO - - - 7"])
        let entry = try required("the other entry", try session.store.outboxEntry(country.entry ?? 0))
        try expect("a value of another edit", entry.changes.first { $0.name == "capital" }?.new, .integer(7))
        try expect("what it waits for", entry.dependsOn, [])
        let other = try session.edit(.create, "City", [], ["name": .text("Bergen")])
        try expectError("a new object without a key", .request) {
            try session.page { try $0.transaction.acknowledge(other.entry ?? 0, key: nil) }
        }
    }

    private static func aNewKeyMayEqualTemporaryOnes(_ subject: StoreSubject) throws {
        let session = try subject.open()
        let cities = try ["Oslo", "Bergen"].map { name in
            try session.edit(.create, "City", [], ["name": .text(name)])
        }
        let ids = try cities.map { try required("the entry", $0.entry) }
        _ = try session.edit(.create, "Country", [], ["code": .text("NO"), "capital": cities[1].key[0]])
        func acknowledge(_ index: Int, key: StoredValue) throws {
            try session.page { page in
                try page.transaction.acknowledge(ids[index], key: [key])
                let name = StoredValue.text(["Oslo", "Bergen"][index])
                try page.merge(SampleModel.city, ["id": key, "name": name], as: .nested)
            }
        }
        // The remote gives the first city the key that the second has for now.
        let taken = cities[1].key[0]
        try session.store.markSending(ids[0])
        try acknowledge(0, key: taken)
        let second = try required("the other entry", try session.store.outboxEntry(ids[1]))
        try expect("whether the other object has another key", second.key == [taken], false)
        try expect("whether its key is temporary", second.hasTemporaryKey, true)
        try expect("the reference to it", try session.rows(SampleModel.country), ["NO - - - \(second.key[0])"])
        // The second keeps the key that it has for now; another edit follows.
        try session.store.markSending(ids[1])
        let later = try session.edit(.update, "City", second.key, ["name": .text("Bjørgvin")])
        try acknowledge(1, key: second.key[0])
        let entry = try required("the later entry", try session.store.outboxEntry(later.entry ?? 0))
        try expect("its key", entry.key, second.key)
        try expect("whether the key of a later edit is temporary", entry.hasTemporaryKey, false)
        let names = try session.rows(SampleModel.city).map {
            $0.split(separator: " ").dropFirst().first.map(String.init)
        }
        try expect("the objects", Set(names), ["Oslo", "Bjørgvin"])
    }

    /// A scan that was under way or interrupted when the remote created the object may lack it; a later one may not.
    private static func aCreatedObjectCountsAsListedLater(_ subject: StoreSubject) throws {
        let session = try subject.open()
        let scope = ScanScope(entity: "City")
        let created = try session.edit(.create, "City", [], ["name": .text("Oslo")])
        let id = try required("the entry", created.entry)
        try session.store.markSending(id)
        /// Lists one other city, and deletes what is missing.
        func scan() throws {
            try session.store.beginScan(scope, afterPage: nil)
            defer { session.store.endScan(scope) }
            try session.page { page in
                try page.transaction.follow(ScanTarget(scope: scope, entity: SampleModel.city))
                try page.merge(SampleModel.city, ["id": .integer(8)])
                _ = try page.transaction.finish(ScanEnd(sweep: SweepRule(deletionLimit: nil)))
                try page.transaction.saveProgress(scope, progress: nil)
            }
        }
        try session.run {
            try session.page { try $0.transaction.acknowledge(id, key: [.integer(7)]) }
            try scan()
        }
        try expect("after a scan that began before", try session.rows(SampleModel.city), ["7 Oslo -", "8 - -"])
        try session.page { page in
            // A store need not save a position alone.
            try page.merge(SampleModel.city, ["id": .integer(8), "name": .text("Bergen")])
            let position = ScanProgress(cursor: "c", page: 3, request: "r", newest: nil, began: "b")
            try page.transaction.saveProgress(scope, progress: position)
        }
        try session.run { try scan() }
        try expect(
            "after a scan that may have resumed", try session.rows(SampleModel.city), ["7 Oslo -", "8 Bergen -"])
        try session.run { try scan() }
        try expect("after a scan that began later", try session.rows(SampleModel.city), ["8 Bergen -"])
    }

    private static func earlierObjectsAreKnown(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.run { try session.add(SampleModel.country, ["code": .text("NO")]) }
        let now = Clock.now()
        try session.run { try session.add(SampleModel.country, ["code": .text("SE")]) }
        let layout = session.model.entities[SampleModel.country]
        func has(_ code: String) throws -> Bool {
            try session.store.hasObject(layout, key: [.text(code)], before: now)
        }
        try expect("earlier, later and missing objects", try ["NO", "SE", "DK"].map(has), [true, false, false])
    }
}
