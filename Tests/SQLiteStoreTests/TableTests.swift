import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import SQLiteStore
import StoreTestSupport
import Testing
import TestSupport

/// Whole tables after imports, as another program reads them.
@Suite struct TableTests {
    @Test func `an import fills readable tables`() throws {
        let fixture = try StoreFixture(
            CompiledModel.of(
                Entity(
                    "Post", key: ["id"],
                    [
                        .of("id", .integer), .of("title", .text), .of("draft", .boolean), .of("score", .real),
                        .of("price", .decimal), .of("written", .timestamp), .of("cover", .data), .of("extra", .json),
                    ],
                    [.one("author", "Person"), .many("tags", "Tag"), .many("comments", "Comment", inverse: "post")]),
                Entity("Person", key: ["mail"], [.of("mail", .text), .of("name", .text)]),
                Entity("Tag", key: ["name"], [.of("name", .text)], [.many("posts", "Post", inverse: "tags")]),
                Entity(
                    "Comment", key: ["post_id", "number"],
                    [.of("post_id", .integer), .of("number", .integer), .of("text", .text)],
                    [.one("post", "Post"), .one("author", "Person"), .one("answers", "Comment")])))
        try fixture.add(
            "Post",
            [
                "id": 1, "title": "First", "draft": false, "score": 4, "price": "0.10",
                "written": "2024-02-29T12:00:00+01:00", "cover": "AP8=", "extra": ["a": [1, nil]],
                "author": ["mail": "a@x", "name": "Ann"], "tags": ["swift", ["name": "sql"]],
                "comments": [
                    ["post_id": 1, "number": 1, "text": "Hi", "author": "b@x"],
                    [
                        "post_id": 1, "number": 2, "author": ["mail": "a@x"],
                        "answers": ["post_id": 1, "number": 1],
                    ],
                ],
            ],
            ["id": 2, "author": "b@x", "tags": []],
            ["id": 3, "draft": "maybe"])
        let file = try fixture.file()
        let tables = ["Post", "Person", "Tag", "Comment", "Post_tags", "bmo_stubs"]
        #expect(
            try tables.map { "\($0)\n" + (try file.table($0)) }.joined(separator: "\n\n") == """
                Post
                id | title | draft | score | price | written | cover | extra | author
                1 | 'First' | 0 | 4.0 | '0.10' | '2024-02-29T11:00:00.000000Z' | x'00ff' | '{"a":[1,null]}' | 'a@x'
                2 | null | null | null | null | null | null | null | 'b@x'

                Person
                mail | name
                'a@x' | 'Ann'
                'b@x' | null

                Tag
                name
                'sql'
                'swift'

                Comment
                post_id | number | text | post | author | answers_post_id | answers_number
                1 | 1 | 'Hi' | 1 | 'b@x' | null | null
                1 | 2 | null | 1 | 'a@x' | 1 | 1

                Post_tags
                source | position | target
                1 | 0 | 'swift'
                1 | 1 | 'sql'

                bmo_stubs
                entity | key
                'Person' | '["b@x"]'
                'Tag' | '["swift"]'
                """)
        #expect(try file.faults().isEmpty)
    }

    @Test func `a thousand columns in changing combinations are updated`() throws {
        let attributes = (0..<80).map { Attribute.of("a\($0)", .integer) }
        let fixture = try StoreFixture(
            CompiledModel.of(Entity("Wide", key: ["id"], [.of("id", .integer)] + attributes)))
        try fixture.add("Wide", ["id": 1])
        var expected = Array(repeating: Int64(0), count: 80)
        for step in 1...600 as ClosedRange<Int64> {
            // More masks than statements are kept.
            let columns = [Int(step % 80), Int(step * 7 % 80), Int(step * 31 % 80)]
            var members: [(key: String, value: Literal)] = [(key: "id", value: 1)]
            for column in columns {
                members.append((key: "a\(column)", value: .integer(step)))
                expected[column] = step
            }
            #expect(try fixture.add("Wide", .object(members)).updated == 1)
        }
        #expect(try fixture.rows("Wide") == ["1 " + expected.map { $0 == 0 ? "null" : "\($0)" }.joined(separator: " ")])
    }
}
