import BMO
import ImportTestSupport
import StoreContract
import StoreTestSupport
import Testing

@Suite(.overBothStores, .namingTheStore) struct UnknownFieldReportTests {
    @Test func `a field that nothing reads is warned of once`() async throws {
        let workplace = try LibraryWorkspace.counting()
        let workspace = try await workplace.workspace(
            """
            version: 1
            bridges:
              numbers: {plugin: counting, options: {count: 10}}
            entities:
              Number: {bridge: numbers, key: id, attributes: {id: integer, even: {type: boolean, from: nested.even}}, counting: {}}
            """)
        let first = try await workplace.sync(workspace)
        #expect(
            first.entities.first?.warnings == [
                "records have 2 fields that no attribute reads: name, nested.digits; `extra: true` would keep them"
            ])
        #expect(try await workplace.sync(workspace).entities.first?.warnings == [])
    }

    @Test func `an entity without attributes keeps whole records`() async throws {
        let workplace = try LibraryWorkspace.counting()
        let workspace = try await workplace.workspace(
            """
            version: 1
            bridges:
              numbers: {plugin: counting, options: {count: 3}}
            entities:
              Number: {bridge: numbers, unique: none, extra: true, counting: {}}
            """)
        #expect(try await workplace.sync(workspace).entities.first?.counts.inserted == 3)
        let table = try workplace.stores.contents(of: workplace.database).first { $0.name == "Number" }
        let kept = table?.rows.map { $0.map(\.literal).joined() } ?? []
        #expect(kept.count == 3)
        #expect(kept.first?.contains(#""nested""#) == true, "\(kept)")
    }

    @Test func `a member that only records of a new sub-entity have is not missing`() async throws {
        let workplace = try LibraryWorkspace.counting()
        let text = workplace.world().replacing("changed: timestamp", with: "changed: timestamp\n      dead: boolean")
        try workplace.say("count 2", "dead 1")
        _ = try await workplace.sync(try await workplace.workspace(text))
        let sub = """

              Dead:
                extends: Number
                when: {has: dead}
                attributes: {even: {type: boolean, from: nested.even}}

            """
        let report = try await workplace.sync(try await workplace.workspace(text + sub))
        #expect(report.succeeded)
        #expect(report.entities[0].warnings.filter { $0.contains("any more") } == [])
    }
}
