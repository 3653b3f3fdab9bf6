import ImportTestSupport
import Mapping
import Model
import RecordBatch
import Testing
import TestSupport

/// The parent's key in the records of a scan per parent.
@Suite struct ParentKeyTests {
    /// Members of teams, with their team in the key; leads among them, and heads among these.
    private static func members(leadsHaveListing: Bool) throws -> CompiledModel {
        var member = Entity(
            "Member", key: ["team_id", "id"], [.of("id", .integer), .of("team_id", .integer, from: ["team"])],
            [.one("team", "Team")])
        member.parent = ParentScan(relationship: "team")
        var lead = Entity("Lead", key: [], [.of("rank", .integer), .of("leads", .integer, from: ["team"])])
        lead.superentity = "Member"
        lead.isScanned = leadsHaveListing
        lead.matcher = Matcher([.has(RemotePath(["rank"]))])
        var head = Entity("Head", key: [], [.of("staff", .integer)])
        head.superentity = "Lead"
        head.isScanned = false
        head.matcher = Matcher([.has(RemotePath(["staff"]))])
        return try CompiledModel.of(member, lead, head, Entity("Team", key: ["id"], [.of("id", .integer)]))
    }

    @Test(arguments: [false, true])
    func `objects of a subentity get the parents key too`(_ leadsHaveListing: Bool) throws {
        #expect(
            try mapped(
                ["id": 1], ["id": 2, "rank": 3], ["id": 2, "rank": 3, "team": 8], ["id": 4, "rank": 3, "staff": 5],
                as: "Member", parent: [.integer(7)], in: Self.members(leadsHaveListing: leadsHaveListing)) == """
                    Member id=1 team_id=7 team=7 entity='Member'
                    Lead id=2 team_id=7 team=7 entity='Lead' rank=3 leads=7
                    Lead id=2 team_id=8 team=8 entity='Lead' rank=3 leads=8
                    Head id=4 team_id=7 team=7 entity='Head' rank=3 leads=7 staff=5
                    """)
    }

    @Test func `a subentity without a listing has the parent of the listing above it`() throws {
        let model = try Self.members(leadsHaveListing: false)
        let expected = "Lead id=2 team_id=7 team=7 entity='Lead' rank=3 leads=7"
        #expect(try mapped(["id": 2, "rank": 3], as: "Lead", parent: [.integer(7)], in: model) == expected)
        let batch = try Literal.batch([["id": 2, "rank": 3]])
        let index = try #require(model.index(of: "Lead"))
        let key = withExtendedLifetime(batch) { Mapper(model).key(of: batch[0], as: index, parent: [.integer(7)]) }
        #expect(key == [.integer(7), .integer(2)])
    }

    @Test func `a subentity with a listing of its own has no parent there`() throws {
        let model = try Self.members(leadsHaveListing: true)
        #expect(try mapped(["id": 2, "rank": 3], as: "Lead", in: model) == "! 0: the key Lead.team_id is missing")
        #expect(
            try mapped(["id": 2, "rank": 3, "team": 8], as: "Lead", in: model)
                == "Lead id=2 team_id=8 team=8 entity='Lead' rank=3 leads=8")
    }
}
