import ImportTestSupport
import Mapping
import Model
import TestSupport
import Testing

/// What a record says about the lists nested in it.
@Suite struct ListMetadataTests {
    private static func model() throws -> CompiledModel {
        var comments = Relationship.many("comments", "Comment", from: ["comments", "data"])
        comments.metadata = [
            Relationship.Metadata(name: "total", path: RemotePath(["comments", "total_count"])),
            Relationship.Metadata(name: "next", path: RemotePath(["comments", "next"])),
            Relationship.Metadata(name: "cursors", path: RemotePath(["comments", "edges", "cursor"])),
        ]
        var replies = Relationship.many("replies", "Comment", from: ["replies", "data"])
        replies.metadata = [Relationship.Metadata(name: "count", path: RemotePath(["reply_count"]))]
        return try CompiledModel.of(
            Entity("Post", key: ["id"], [.of("id", .integer)], [comments, .one("pinned", "Comment")]),
            Entity("Comment", key: ["id"], [.of("id", .integer)], [replies]))
    }

    /// What a mapper says of records, one line for each list, after those that were rejected.
    private func said(of records: Literal..., reading isRead: Bool = true) throws -> [String] {
        let model = try Self.model()
        let batch = try Literal.batch(records)
        let page = Mapper(model, readsMetadata: isRead).map(batch, as: 0)
        return withExtendedLifetime(page) {
            page.rejections.map { "! \($0.reason)" }
                + page.metadata.map { said in
                    let row = page.rows[said.row]
                    let key = page.cells[row.firstCell].value?.literal ?? "absent"
                    let values = said.values.map { "\($0.name)=\($0.json)" } + said.omitted.map { "\($0) is too long" }
                    let name = model.entities[row.entity].toMany[said.relationship].name
                    return
                        "\(said.path) of \(model.entities[row.entity].name) \(key) (\(name)): "
                        + values.joined(separator: " ")
                }
        }
    }

    private let post: Literal = [
        "id": 1,
        "comments": [
            "next": "/c?p=2",
            "data": [["id": 7, "reply_count": 2, "replies": ["data": [["id": 8, "reply_count": 0]]]]],
            "total_count": 57,
        ],
    ]

    @Test func `the values beside a list belong to its owner, in records and in objects nested in them`() throws {
        #expect(
            try said(of: post) == [
                #"comments of Post 1 (comments): total=57 next="/c?p=2""#,
                "comments.replies of Comment 7 (replies): count=2",
                "comments.replies.replies of Comment 8 (replies): count=0",
            ])
        #expect(
            try said(of: ["id": 1, "pinned": ["id": 7, "reply_count": 2]])
                == ["pinned.replies of Comment 7 (replies): count=2"])
    }

    @Test func `what a record lacks is left out, and a null is a value`() throws {
        #expect(try said(of: ["id": 1], ["id": 2, "comments": nil], ["id": 3, "comments": ["data": []]]) == [])
        #expect(
            try said(of: ["id": 1, "comments": ["next": nil]]) == ["comments of Post 1 (comments): next=null"],
            "a list need not come with it")
        #expect(
            try said(of: ["id": 1, "comments": ["total_count": 1, "total_count": 2]])
                == ["comments of Post 1 (comments): total=2"], "the last of several members of a name counts")
    }

    @Test func `values have any form, and a path across a list collects its elements`() throws {
        #expect(
            try said(
                of: [
                    "id": 1,
                    "comments": [
                        "total_count": ["exact": false, "value": 57], "next": [],
                        "edges": [["cursor": "a"], ["cursor": nil], [:], ["cursor": "b"]],
                    ],
                ]) == [
                    #"comments of Post 1 (comments): total={"exact":false,"value":57} next=[] cursors=["a",null,"b"]"#
                ])
    }

    @Test func `a value that is too long is left out by name`() throws {
        let limit = 4 << 10
        let fits = String(repeating: "x", count: limit - 2)
        #expect(
            try said(of: ["id": 1, "comments": ["total_count": 5, "next": .text(fits)]])
                == ["comments of Post 1 (comments): total=5 next=\"\(fits)\""])
        #expect(
            try said(of: ["id": 1, "comments": ["total_count": 5, "next": .text(fits + "x")]])
                == ["comments of Post 1 (comments): total=5 next is too long"])
    }

    @Test func `nothing is kept of a rejected record, and no record is rejected for its metadata`() throws {
        let bad: Literal = ["id": 2, "comments": ["total_count": 5, "data": [["id": "x", "reply_count": 1]]]]
        let said = try said(of: bad, post)
        #expect(said.count == 4 && said.first?.hasPrefix("! ") == true, "\(said)")
        #expect(said.dropFirst().nonEmptyAllSatisfy { !$0.contains("Post 2") && !$0.contains("Comment x") }, "\(said)")
        #expect(
            try self.said(of: ["id": 1, "comments": ["total_count": 5, "edges": 3]])
                == ["comments of Post 1 (comments): total=5"])
    }

    @Test func `a mapper that is not asked for it reads none, and the objects are the same`() throws {
        #expect(try said(of: post, reading: false) == [])
        let model = try Self.model()
        let batch = try Literal.batch([post])
        let texts = [false, true].map { isRead in
            let page = Mapper(model, readsMetadata: isRead).map(batch, as: 0)
            return withExtendedLifetime(page) { page.text(in: model) }
        }
        #expect(texts[0] == texts[1] && texts[0].contains("0.comments: 7"), "\(texts)")
    }

    @Test func `a bridge that selects fields is asked for it with its list`() throws {
        let model = try Self.model()
        func paths(_ needed: Set<String>?) throws -> Set<String> {
            let paths = model.readPaths(of: 0, isNeeded: needed.map { names in { names.contains($0) } })
            return Set(try #require(paths).map { $0.joined(separator: ".") })
        }
        #expect(
            try paths(["id", "comments"]).isSuperset(of: [
                "comments.total_count", "comments.next", "comments.edges.cursor",
            ]))
        #expect(try paths(["id"]) == ["id"])
        #expect(try paths(nil).contains("comments.total_count"))
    }

    @Test func `its members are not unknown`() throws {
        let mapper = try Mapper(Self.model())
        _ = mapper.map(try Literal.batch([post]), as: 0)
        #expect(mapper.takeUnknownFields().isEmpty)
    }
}
