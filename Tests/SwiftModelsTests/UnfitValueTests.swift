import BMO
import BMOTesting
import Observation
import Testing

private let digits = "1234567890123456789012345678901234567890.12"

/// Values that the types of the models cannot represent.
@Suite struct UnfitValueTests {
    private let remote = ScriptedRemote()

    private func manager() async throws -> RequestManager {
        try await RequestManager.testing(config: TypedQueryTests.config, remote: remote)
    }

    @Test(arguments: [
        ("price", digits, "price is \(digits), which Swift's Decimal cannot represent"),
        ("link", "http://[bad", "link is http://[bad, which Swift's URL cannot represent"),
    ])
    func `an object with such a value is named, and does not hide others`(
        name: String, text: String, message: String
    ) async throws {
        remote["Note"] = [["id": 1, "title": "good"], ["id": 2, name: .string(text)]]
        let manager = try await manager()
        _ = try await manager.fetch(Note.all).remote
        let error = try await #require(throws: RequestError.self) { try await manager.get(Note.self, 2) }
        #expect(error.code == "value" && error.message == "Note 2: \(message)", "\(error)")
        #expect(!error.description.contains("bmo schema"))
        await #expect(throws: RequestError.self) { try await manager.objects(Note.all) }
        let fetch = try await manager.fetch(Note.all)
        #expect(fetch.local.map(\.id) == [1] && fetch.misfits == [error])
        #expect(try await manager.get("Note", 2)?[name]?.text == text)
        try await manager.close()
    }

    @Test @MainActor func `a list shows the other objects, and goes on`() async throws {
        remote["Note"] = [["id": 1, "title": "good"]]
        let manager = try await manager()
        let list = ObservedObjects(Note.all, of: manager)
        let copy = Copy()
        list.onChange { copy.notes.apply($0.difference, from: $0.objects) }
        _ = try await list.refresh()
        await wait { list.objects.map(\.id) == [1] }
        remote["Note"] = [
            ["id": 1, "title": "good"], ["id": 2, "price": .string(digits)], ["id": 3, "title": "new"],
        ]
        _ = try await list.refresh()
        await wait { list.objects.map(\.id) == [1, 3] && list.misfits.count == 1 }
        #expect(list.error == nil && copy.notes == list.objects)
        remote["Note"] = [["id": 1, "title": "better"], ["id": 2, "price": "1.5"]]
        _ = try await list.refresh()
        await wait { list.objects.map(\.id) == [1, 2] && list.misfits.isEmpty }
        await wait { list.objects.first?.title == "better" }
        #expect(list.error == nil && copy.notes == list.objects)
        try await manager.close()
    }

    @Test(arguments: ["+202-+1-+1", "2026-1-01", "2026-13-01", "-026-01-01"])
    func `a text that is not a day is not read as one`(text: String) {
        #expect(CalendarDate(text) == nil)
    }

    /// Waits until a condition on observed values holds, as a view that draws again does.
    @MainActor private func wait(until condition: @escaping @MainActor () -> Bool) async {
        let (changes, signal) = AsyncStream<Void>.makeStream()
        var iterator = changes.makeAsyncIterator()
        while !withObservationTracking(condition, onChange: { signal.yield() }) { await iterator.next() }
    }
}

/// A list that performs the steps of its changes.
@MainActor private final class Copy {
    var notes: [Note] = []
}
