import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import Testing
import TestSupport

@testable import BMO

@Suite struct DuplicateKeyWarningsTests {
    @Test func `a shared key without a relationship to a parent names no attribute of it`() throws {
        let model = try CompiledModel.of(
            Entity("Note", key: ["id"], [.of("id", .integer)], [.one("team", "Team")]),
            Entity("Team", key: ["id"], [.of("id", .integer)]))
        var sweep = SweepResult()
        sweep.shared = RepeatedKeys(count: 1, key: [.integer(7)], parents: [[.integer(1)], [.integer(2)]])
        #expect(
            DuplicateKeyWarnings(0, parent: nil, model).warnings(of: sweep) == [
                "key 7 occurs under two parents (parent 1, parent 2): if these are several objects, add the attribute "
                    + "that distinguishes them to `key`"
            ])
        #expect(
            DuplicateKeyWarnings(0, parent: "team", model).warnings(of: sweep) == [
                "key 7 occurs under two parents (team 1, team 2): use `key: [team_id, id]` with the attribute "
                    + "`team_id: {type: integer, from: team}`"
            ])
    }
}
