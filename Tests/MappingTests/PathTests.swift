import ImportTestSupport
import Mapping
import Model
import Testing
import TestSupport

/// How paths lead into a record, and the three states of what they find.
@Suite struct PathTests {
    private typealias Members = [(key: String, value: Literal)]

    private func place() throws -> CompiledModel {
        try CompiledModel.of(
            Entity(
                "Place", key: ["id"],
                [
                    .of("id", .integer), .of("city", .text, from: ["address", "city"]),
                    .of("zip", .text, from: ["address", "geo.code", "zip"]), .of("address", .json),
                ]),
            Entity("Note", key: ["id"], [.of("id", .integer)]))
    }

    @Test func `a dot path leads into nested objects`() throws {
        #expect(
            try mapped(
                ["id": 1, "address": ["city": "Oslo", "geo.code": ["zip": "0150"]]], as: "Place", in: place())
                    == """
                    Place id=1 city='Oslo' zip='0150' address='{"city":"Oslo","geo.code":{"zip":"0150"}}'
                    """)
    }

    @Test func `a field is absent null or a value`() throws {
        let model = try place()
        #expect(try mapped(["id": 1], as: "Place", in: model) == "Place id=1")
        #expect(try mapped(["id": 1, "address": [:]], as: "Place", in: model) == "Place id=1 address='{}'")
        #expect(
            try mapped(["id": 1, "address": ["city": nil]], as: "Place", in: model)
                == "Place id=1 city=null address='{\"city\":null}'")
        #expect(
            try mapped(["id": 1, "address": ["city": ""]], as: "Place", in: model)
                == "Place id=1 city='' address='{\"city\":\"\"}'", "an empty text is a value")
    }

    @Test func `null on the way clears what lies below`() throws {
        #expect(
            try mapped(["id": 1, "address": nil], as: "Place", in: place())
                == "Place id=1 city=null zip=null address=null")
        #expect(
            try mapped(["id": 1, "address": ["geo.code": nil]], as: "Place", in: place())
                == "Place id=1 zip=null address='{\"geo.code\":null}'")
    }

    @Test func `null on the way clears relationships too`() throws {
        let model = try CompiledModel.of(
            Entity(
                "Post", key: ["id"], [.of("id", .integer), .of("tagNames", .json, from: ["meta", "tags", "name"])],
                [
                    .one("author", "Person", from: ["meta", "author"]), .many("tags", "Tag", from: ["meta", "tags"]),
                ]),
            Entity("Person", key: ["id"], [.of("id", .integer)]), Entity("Tag", key: ["id"], [.of("id", .integer)]))
        #expect(
            try mapped(["id": 1, "meta": nil], as: "Post", in: model)
                == "Post id=1 tagNames=null author=null\n0.tags:")
    }

    @Test(arguments: [false, "", nil] as [Literal])
    func `what stands for no object clears what lies below`(_ value: Literal) throws {
        let model = try CompiledModel.of(
            Entity(
                "Post", key: ["id"], [.of("id", .integer), .of("city", .text, from: ["meta", "at", "city"])],
                [.one("author", "Person", from: ["meta", "author"]), .many("tags", "Tag", from: ["meta", "tags"])]),
            Entity("Person", key: ["id"], [.of("id", .integer)]), Entity("Tag", key: ["id"], [.of("id", .integer)]))
        #expect(
            try mapped(["id": 1, "meta": value], as: "Post", in: model)
                == "Post id=1 city=null author=null\n0.tags:")
        #expect(try mapped(["id": 1, "meta": ["at": value]], as: "Post", in: model) == "Post id=1 city=null")
    }

    @Test func `a scalar on the way has nothing below`() throws {
        // Such as a reference that an API expands on request only: `customer: "c1"` and `customer: {name: ...}`.
        #expect(
            try mapped(["id": 1, "address": "Oslo"], as: "Place", in: place()) == "Place id=1 address='\"Oslo\"'")
    }

    @Test func `a path across an array gives the list of what its elements have`() throws {
        let model = try CompiledModel.of(
            Entity("Post", key: ["id"], [.of("id", .integer), .of("names", .json, from: ["tags", "name"])]))
        #expect(
            try mapped(
                ["id": 1, "tags": [["name": "a"], [:], ["name": nil], "x", [["name": [1, 2]]]]], as: "Post", in: model)
                == "Post id=1 names='[\"a\",null,[1,2]]'")
        #expect(try mapped(["id": 1, "tags": []], as: "Post", in: model) == "Post id=1 names='[]'")
        #expect(try mapped(["id": 1, "tags": ["name": "b"]], as: "Post", in: model) == "Post id=1 names='\"b\"'")
        #expect(try mapped(["id": 1], as: "Post", in: model) == "Post id=1")
    }

    @Test func `a number in a path is an element of an array`() throws {
        let model = try CompiledModel.of(
            Entity(
                "Point", key: ["id"],
                [
                    .of("id", .integer, from: ["row", "0"]), .of("east", .real, from: ["at", "xy", "0"]),
                    .of("north", .real, from: ["at", "xy", "1"]), .of("first", .text, from: ["tags", "0", "name"]),
                    .of("all", .json, from: ["tags", "name"]),
                ]))
        #expect(
            try mapped(
                ["row": [7, 8], "at": ["xy": [1.5, "2.5", 9]], "tags": [["name": "a"], ["name": "b"]]], as: "Point",
                in: model) == "Point id=7 east=1.5 north=2.5 first='a' all='[\"a\",\"b\"]'")
        // What is not there is null, and an object may have such names.
        #expect(
            try mapped(["row": ["0": 7], "at": ["xy": []], "tags": []], as: "Point", in: model)
                == "Point id=7 east=null north=null first=null all='[]'")
        #expect(try mapped(["row": ["x"]], as: "Point", in: model).hasPrefix("! 0: Point.id: "))
        #expect(try mapped(["row": []], as: "Point", in: model) == "! 0: the key Point.id is null")
    }

    @Test func `a number that the elements of an array have as a member is that member`() throws {
        let model = try CompiledModel.of(
            Entity(
                "Fund", key: ["id"],
                [
                    .of("id", .integer), .of("year", .json, from: ["prices", "2024"]),
                    .of("first", .json, from: ["prices", "0"]),
                ]))
        #expect(
            try mapped(["id": 1, "prices": [["2024": 5], ["2024": 6], ["2023": 7]]], as: "Fund", in: model)
                == #"Fund id=1 year='[5,6]' first='{"2024":5}'"#)
        #expect(try mapped(["id": 1, "prices": [5]], as: "Fund", in: model) == "Fund id=1 year=null first='5'")
        #expect(
            try mapped(["id": 1, "prices": [5, ["0": 6]]], as: "Fund", in: model) == "Fund id=1 year=null first='[6]'")
    }

    @Test func `a path across an array is of type JSON`() throws {
        let model = try CompiledModel.of(
            Entity("Post", key: ["id"], [.of("id", .integer), .of("name", .text, from: ["tags", "name"])]))
        #expect(
            try mapped(["id": 1, "tags": [["name": "a"]]], as: "Post", in: model)
                == "! 0: Post.name: its path crosses an array; use type json")
        // PHP sends an object without members so.
        #expect(try mapped(["id": 1, "tags": []], as: "Post", in: model) == "Post id=1 name=null")
    }

    @Test func `relationships go across arrays`() throws {
        let model = try CompiledModel.of(
            Entity(
                "Album", key: ["id"], [.of("id", .integer)],
                [
                    .many("tracks", "Track", from: ["discs", "tracks"]),
                    .one("first", "Track", from: ["discs", "opener"]),
                ]),
            Entity("Track", key: ["id"], [.of("id", .integer), .of("name", .text)]))
        #expect(
            try mapped(
                [
                    "id": 1,
                    "discs": [
                        ["opener": 7, "tracks": [["id": 7, "name": "a"], 8]], ["tracks": nil], [:],
                        ["tracks": [9]],
                    ],
                ], as: "Album", in: model) == """
                    Album id=1 first=7
                    Track id=7 name='a'
                    (Track) id=8
                    (Track) id=9
                    0.tracks: 7 8 9
                    """)
        #expect(
            try mapped(["id": 1, "discs": [["opener": 7], ["opener": 8]]], as: "Album", in: model)
                == "! 0: Album.first: a list of 2 for a relationship to one")
    }

    @Test func `one member feeds several fields`() throws {
        let model = try CompiledModel.of(
            Entity(
                "E", key: ["id"],
                [
                    .of("id", .integer), .of("text", .text, from: ["id"]), .of("whole", .json, from: ["a"]),
                    .of("part", .integer, from: ["a", "b"]),
                ]))
        #expect(
            try mapped(["id": 1, "a": ["b": 2]], as: "E", in: model) == "E id=1 text='1' whole='{\"b\":2}' part=2")
    }

    @Test func `the last of two members of one name counts`() throws {
        let model = try CompiledModel.of(
            Entity(
                "E", key: ["id"], [.of("id", .integer), .of("b", .integer, from: ["a", "b"])],
                [.one("one", "T"), .many("many", "T")]),
            Entity("T", key: ["id"], [.of("id", .integer)]))
        #expect(try mapped(["id": 1, "id": 2], as: "E", in: model) == "E id=2")
        #expect(try mapped(["id": "bad", "id": 2], as: "E", in: model) == "E id=2", "the first is not looked at")
        #expect(try mapped(["id": 2, "id": nil], as: "E", in: model) == "! 0: the key E.id is null")
        #expect(try mapped(["id": 1, "a": ["b": 1], "a": ["c": 2]], as: "E", in: model) == "E id=1")
        #expect(
            try mapped(["id": 1, "one": ["id": 7], "one": ["id": 8]], as: "E", in: model)
                == "E id=1 one=8\nT id=8")
        #expect(
            try mapped(["id": 1, "many": [7, 8], "many": [9]], as: "E", in: model)
                == "E id=1\n(T) id=9\n0.many: 9")
        #expect(
            try mapped(["id": 1, "one": ["x": 7], "one": nil], as: "E", in: model) == "E id=1 one=null")
    }

    @Test func `names are compared byte by byte`() throws {
        let composed = "caf\u{e9}"
        let decomposed = "cafe\u{301}"
        let model = try CompiledModel.of(
            Entity("E", key: ["id"], [.of("id", .integer), .of("value", .text, from: [composed])]))
        #expect(
            try mapped(
                .object([("id", 1), (composed, "composed"), (decomposed, "decomposed")] as Members), as: "E", in: model)
                == "E id=1 value='composed'")
        #expect(try mapped(.object([("id", 1), (decomposed, "other")] as Members), as: "E", in: model) == "E id=1")
    }

    @Test func `one plan reads batches with other names and in another order`() throws {
        let model = try place()
        let index = try #require(model.index(of: "Place"))
        let mapper = Mapper(model)
        func text(_ record: Literal) throws -> String {
            let page = mapper.map(try Literal.batch([record]), as: index)
            return withExtendedLifetime(page) { page.text(in: model) }
        }
        #expect(
            try text(["id": 1, "new": 1, "address": ["city": "Oslo", "street": "A"]])
                == #"Place id=1 city='Oslo' address='{"city":"Oslo","street":"A"}'"#)
        #expect(
            try text(["address": ["street": "B", "geo.code": ["zip": "0150"]], "zip": "no", "id": 2])
                == #"Place id=2 zip='0150' address='{"street":"B","geo.code":{"zip":"0150"}}'"#)
        #expect(try text(["city": "no", "id": 3]) == "Place id=3")
        #expect(mapper.takeUnknownFields().map(\.path).sorted() == ["address.street", "city", "new", "zip"])
    }

    @Test func `padding with thousands of unknown members changes nothing`() throws {
        let model = try place()
        let padding = (0..<5000).map { (key: "member \($0)", value: Literal.integer(Int64($0))) }
        #expect(
            try mapped(
                .object([("id", 1)] as Members + padding + [("address", ["city": "x"])] as Members), as: "Place",
                in: model)
                == "Place id=1 city='x' address='{\"city\":\"x\"}'")
    }
}
