import ImportTestSupport
import Mapping
import Model
import RecordBatch
import Testing
import TestSupport

/// What a record says by leaving a member out.
@Suite struct AbsenceTests {
    private static func issues(
        absent: AbsentRule? = nil, subject: AbsentRule? = nil, people: AbsentRule? = nil
    ) throws -> CompiledModel {
        var title = Attribute.of("subject", .text)
        title.absent = subject
        var watchers = Relationship.many("watchers", "Person")
        watchers.absent = people
        var issue = Entity(
            "Issue", key: ["id"], [.of("id", .integer), title, .of("city", .text, from: ["place", "city"])],
            [.one("owner", "Person"), watchers])
        issue.absent = absent
        return try CompiledModel.of(issue, Entity("Person", key: ["id"], [.of("id", .integer), .of("name", .text)]))
    }

    /// The rows of records, the members of which are `known` to come.
    private static func mapped(
        _ records: Literal..., as entity: Int = 0, in model: CompiledModel, _ extent: RecordExtent = .whole,
        known: [String] = []
    ) throws -> String {
        let mapper = Mapper(model, knownMembers: Set(known.map { ListedMember(entity: entity, path: $0) }))
        let batch = try Literal.batch(records)
        let page = mapper.map(batch, as: entity, extent: extent)
        return withExtendedLifetime(page) { page.text(in: model) }
    }

    private static let all = ["subject", "place.city", "owner", "watchers"]

    @Test func `what the listing is known to bring is null where a record lacks it`() throws {
        let model = try Self.issues()
        #expect(
            try Self.mapped(["id": 1], in: model, known: Self.all)
                == "Issue id=1 subject=null city=null owner=null\n0.watchers:")
        #expect(try Self.mapped(["id": 1], in: model, known: ["owner"]) == "Issue id=1 owner=null")
        #expect(try Self.mapped(["id": 1], in: model) == "Issue id=1", "maybe the listing does not bring it")
    }

    @Test func `one record shows that the listing brings a member`() throws {
        let text = try Self.mapped(
            ["id": 1], ["id": 2, "subject": nil, "watchers": []], ["id": 3, "place": ["zip": "x"]],
            in: try Self.issues())
        #expect(
            text == """
                Issue id=1
                Issue id=2 subject=null
                Issue id=3 subject=null
                1.watchers:
                2.watchers:
                """)
    }

    @Test func `where both ends are lists, the first one says what a missing one means`() throws {
        let model = try CompiledModel.of(
            Entity("Post", key: ["id"], [.of("id", .integer)], [.many("tags", "Tag", inverse: "posts")]),
            Entity("Tag", key: ["id"], [.of("id", .integer)], [.many("posts", "Post")]))
        #expect(try Self.mapped(["id": 1], in: model, known: ["tags"]) == "Post id=1\n0.tags:")
        #expect(try Self.mapped(["id": 1], as: 1, in: model, known: ["posts"]) == "Tag id=1")
        #expect(try Self.mapped(["id": 1, "posts": []], as: 1, in: model) == "Tag id=1\n0.posts:")
    }

    @Test func `a declaration counts more than what is known`() throws {
        let keep = try Self.issues(absent: .keep, subject: .null, people: .auto)
        #expect(
            try Self.mapped(["id": 1], in: keep, known: Self.all) == "Issue id=1 subject=null\n0.watchers:")
        let null = try Self.issues(absent: .null, subject: .keep)
        #expect(try Self.mapped(["id": 1], in: null) == "Issue id=1 city=null owner=null\n0.watchers:")
    }

    @Test func `changes and parts leave alone what they lack`() throws {
        let model = try Self.issues(subject: .null)
        #expect(try Self.mapped(["id": 1], in: model, .changes, known: Self.all) == "Issue id=1 subject=null")
        #expect(try Self.mapped(["id": 1], in: model, .part, known: Self.all) == "Issue id=1")
    }

    @Test func `an object inside another may be a summary`() throws {
        var person = Entity("Person", key: ["id"], [.of("id", .integer), .of("name", .text)])
        person.absent = .null
        let model = try CompiledModel.of(
            Entity("Issue", key: ["id"], [.of("id", .integer)], [.one("owner", "Person")]), person)
        #expect(
            try Self.mapped(["id": 1, "owner": ["id": 7]], in: model) == "Issue id=1 owner=7\nPerson id=7")
    }

    @Test func `a member is reported once, and only for records that fit`() throws {
        let model = try Self.issues()
        let mapper = Mapper(model)
        let batch = try Literal.batch([["subject": "no key"], ["id": 1, "owner": 3], ["id": 2, "owner": 4]])
        _ = mapper.map(batch, as: 0, extent: .whole)
        #expect(
            mapper.takeMembers() == [ListedMember(entity: 0, path: ""), ListedMember(entity: 0, path: "owner")])
        _ = mapper.map(batch, as: 0, extent: .whole)
        #expect(mapper.takeMembers().isEmpty)
    }
}
