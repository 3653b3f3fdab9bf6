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

    private static let dead = """

          Dead:
            extends: Number
            when: {has: dead}
            attributes: {dead: boolean}

        """

    @Test func `a field of a sub-entity's records is warned of beside the sub-entity`() async throws {
        let workplace = try LibraryWorkspace.counting()
        let workspace = try await workplace.workspace(workplace.world() + Self.dead)
        try workplace.say("count 2", "dead 1", "owner 1 5")
        let report = try await workplace.sync(workspace)
        let dead = try #require(report.entities.first { $0.name == "Dead" })
        #expect(dead.warnings.count == 1 && dead.warnings.first?.contains("owner") == true, "\(dead.warnings)")
        #expect(report.entities.first { $0.name == "Number" }?.warnings.contains { $0.contains("owner") } == false)
    }

    @Test func `a member that no record has any more is warned of once for an entity and its sub-entities`()
        async throws
    {
        let workplace = try LibraryWorkspace.counting()
        let text = workplace.world().replacing("changed: timestamp", with: "changed: timestamp\n      owner: integer")
        let workspace = try await workplace.workspace(text + Self.dead)
        func missing(_ lines: String...) async throws -> [String] {
            try workplace.say((["count 2", "dead 1"] + lines).joined(separator: "\n"))
            return try await workplace.sync(workspace).entities.flatMap(\.warnings).filter { $0.contains("any more") }
        }
        #expect(try await missing("owner 0 5", "owner 1 5") == [])
        let ofDead = try await missing("owner 0 5")
        #expect(
            ofDead.count == 1 && ofDead.first?.hasPrefix("no object of Dead has `owner` any more") == true, "\(ofDead)")
        #expect(try await missing("owner 0 5", "owner 1 5") == [])
        let ofBoth = try await missing()
        #expect(ofBoth.count == 1 && ofBoth.first?.hasPrefix("no record has `owner` any more") == true, "\(ofBoth)")
    }

    @Test func `a member that a sub-entity's object has from a record of the super-entity is not missing`()
        async throws
    {
        let workplace = try LibraryWorkspace.counting()
        let text = workplace.world().replacing("changed: timestamp", with: "changed: timestamp\n      owner: integer")
        let workspace = try await workplace.workspace(text + Self.dead)
        func missing(_ lines: String...) async throws -> [String] {
            try workplace.say((["count 2", "dead 1"] + lines).joined(separator: "\n"))
            return try await workplace.sync(workspace).entities.flatMap(\.warnings).filter { $0.contains("any more") }
        }
        #expect(try await missing("dead 0", "owner 0 5", "owner 1 5") == [])
        // 0 stays Dead, though its record does not say so any more.
        #expect(try await missing("owner 0 5") == [])
        let ofBoth = try await missing()
        #expect(ofBoth.count == 1 && ofBoth.first?.hasPrefix("no record has `owner` any more") == true, "\(ofBoth)")
    }
}
