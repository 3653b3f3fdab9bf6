import ImportTestSupport
import Mapping
import Model
import Testing
import TestSupport

@Suite struct TransformerTests {
    @Test func `trim removes white space at both ends`() throws {
        #expect(try local(" \t a b\u{a0}\r\n", as: .text, .trim) == "'a b'")
        #expect(try local(" \n ", as: .text, .trim) == "''")
        #expect(try local(" 12 ", as: .integer, .trim) == "12")
        #expect(try local(" 2024-02-29 ", as: .date, .trim) == "'2024-02-29'")
    }

    @Test func `letters change case`() throws {
        #expect(try local("Größe İ", as: .text, .uppercase) == "'GRÖSSE İ'")
        #expect(try local("ÀB", as: .text, .lowercase) == "'àb'")
    }

    @Test func `a prefix comes and goes`() throws {
        #expect(try local("bob", as: .text, .prefix("/users/")) == "'/users/bob'")
        #expect(try local(7, as: .text, .prefix("#")) == "'#7'")
        #expect(try local("/users/bob", as: .text, .stripPrefix("/users/")) == "'bob'")
        #expect(
            try local("bob", as: .text, .stripPrefix("/users/")) == "'bob'", "where it is not there, nothing changes")
        #expect(try local("x-12", as: .integer, .stripPrefix("x-")) == "12")
    }

    @Test func `an empty text becomes null`() throws {
        #expect(try local("", as: .integer, .emptyAsNull) == "null")
        #expect(try local("  ", as: .text, .trim, .emptyAsNull) == "null")
        #expect(try local("  ", as: .text, .emptyAsNull) == "'  '")
        #expect(try local(0, as: .integer, .emptyAsNull) == "0")
        #expect(try local(false, as: .boolean, .emptyAsNull) == "0")
        #expect(try local("", as: .json, .emptyAsNull) == "null")
        #expect(try local(["a": 1], as: .json, .emptyAsNull) == "'{\"a\":1}'", "what is no text is not empty")
        #expect(try local([], as: .json, .emptyAsNull) == "'[]'")
        #expect(try local(.bytes([1]), as: .data, .emptyAsNull) == "x'01'")
    }

    @Test func `a base reads an integer`() throws {
        #expect(try local("ff", as: .integer, .base(16)) == "255")
        #expect(try local("-Zz", as: .integer, .base(36)) == "-1295")
        #expect(try local(10, as: .integer, .base(2)) == "2")
        #expect(try local("0xff", as: .integer, .base(16)) == "! the text \"0xff\" is not an integer of base 16")
        #expect(try local("2", as: .integer, .base(2)) == "! the text \"2\" is not an integer of base 2")
        #expect(
            try local("8000000000000000", as: .integer, .base(16))
                == "! the text \"8000000000000000\" is not an integer of base 16")
    }

    @Test func `a map compares its values byte by byte`() throws {
        let composed = ValueMapping(remote: "\u{e9}", local: "composed")
        let decomposed = ValueMapping(remote: "e\u{301}", local: "decomposed")
        for map in [[composed, decomposed], [decomposed, composed]] {
            #expect(try local("\u{e9}", as: .text, .map(map)) == "'composed'")
            #expect(try local("e\u{301}", as: .text, .map(map)) == "'decomposed'")
        }
        #expect(try local("e\u{301}", as: .text, .map([composed])).hasSuffix("is not in the map of \"\u{e9}\""))
    }

    @Test func `a map replaces whole values`() throws {
        let map = Transformer.map([
            ValueMapping(remote: "A", local: "active"), ValueMapping(remote: "1", local: "one"),
            ValueMapping(remote: "true", local: "yes"), ValueMapping(remote: "", local: nil),
        ])
        #expect(try local("A", as: .text, map) == "'active'")
        #expect(try local(1, as: .text, map) == "'one'")
        #expect(try local(true, as: .text, map) == "'yes'")
        #expect(try local("", as: .text, map) == "null")
        #expect(try local(nil, as: .text, map) == "null", "null is no remote value to map")
        #expect(try local("a", as: .text, map) == "! the text \"a\" is not in the map of \"A\", \"1\", \"true\", \"\"")
        #expect(try local("B", as: .boolean, .map([ValueMapping(remote: "B", local: true)])) == "1")
        #expect(try local("1", as: .json, .map([ValueMapping(remote: "1", local: 7)])) == "'7'")
    }

    @Test func `steps go from left to right`() throws {
        #expect(try local(" ID-1F ", as: .integer, .trim, .lowercase, .stripPrefix("id-"), .base(16)) == "31")
        #expect(try local("x", as: .text, .prefix("b"), .prefix("a")) == "'abx'")
        #expect(
            try local("Y", as: .text, .map([ValueMapping(remote: "Y", local: nil)]), .prefix("a")) == "null",
            "null passes the later steps untouched")
    }

    @Test func `a part of a text is taken`() throws {
        #expect(try local("https://x.org/api/people/42/?v=2#top", as: .integer, .lastSegment) == "42")
        #expect(try local("a/b%20c", as: .text, .lastSegment) == "'b c'")
        #expect(try local("a/%ff", as: .text, .lastSegment) == "'%ff'", "no UTF-8: as it is written")
        #expect(try local("plain", as: .text, .lastSegment) == "'plain'")
        let number = try RegularExpression("^[A-Z]+-([0-9]+)$")
        #expect(try local("BMO-17", as: .integer, .extract(number)) == "17")
        #expect(
            try local("none", as: .integer, .extract(number))
                == "! the text \"none\" does not fit the expression ^[A-Z]+-([0-9]+)$")
        #expect(try local("ab12", as: .text, .extract(try RegularExpression("[0-9]+"))) == "'12'", "all that fits")
        #expect(try local("b", as: .text, .extract(try RegularExpression("^(a)?b$"))) == "null")
        #expect(try local("é-ü", as: .text, .extract(try RegularExpression("-(.*)"))) == "'ü'")
    }

    @Test func `the first value of a list is taken, with its type`() throws {
        #expect(try local([nil, 7, "b"], as: .integer, .first) == "7")
        #expect(try local([nil, ["a": 1]], as: .json, .first) == #"'{"a":1}'"#)
        #expect(try local([nil, nil], as: .text, .first) == "null")
        #expect(try local("one", as: .text, .first, .uppercase) == "'ONE'")
        #expect(try local(["", "b"], as: .text, .first) == "''")
        #expect(try local(["", "b"], as: .text, .first, .emptyAsNull) == "'b'", "an empty text is no value then")
    }

    @Test func `of several paths the first value is taken as it is, also a list`() throws {
        let labels = Attribute(
            name: "labels", type: .json, source: .paths([RemotePath(["tags"]), RemotePath(["labels"])]),
            transformers: [.first])
        let model = try CompiledModel.of(Entity("Note", key: ["id"], [.of("id", .integer), labels]))
        func note(_ record: Literal) throws -> String { try mapped(record, as: "Note", in: model) }
        #expect(try note(["id": 1, "tags": ["a", "b"], "labels": "c"]) == #"Note id=1 labels='["a","b"]'"#)
        #expect(try note(["id": 1, "tags": nil, "labels": ["c"]]) == #"Note id=1 labels='["c"]'"#)
        #expect(try note(["id": 1, "tags": [], "labels": ["c"]]) == #"Note id=1 labels='["c"]'"#)
        #expect(try note(["id": 1, "labels": "c"]) == #"Note id=1 labels='"c"'"#)
        #expect(try note(["id": 1, "tags": nil, "labels": nil]) == "Note id=1 labels=null")
    }

    @Test func `values of a list are joined`() throws {
        #expect(try local(["a", nil, 7, true], as: .text, .join(", ")) == "'a, 7, true'")
        #expect(try local([], as: .text, .join(", ")) == "null")
        #expect(try local("one", as: .text, .join(", "), .uppercase) == "'ONE'")
        #expect(
            try local([["a": 1]], as: .text, .join(","))
                == "! the object {\"a\":1} cannot be joined: it is not a single value")
        let tags = Attribute.of("tags", .text, from: ["tags", "name"], .join("|"))
        let name = Attribute(
            name: "name", source: .paths([RemotePath(["given"]), RemotePath(["family", "name"])]),
            transformers: [.join(" ")])
        let model = try CompiledModel.of(Entity("E", key: ["id"], [.of("id", .integer), tags, name]))
        #expect(
            try mapped(
                ["id": 1, "tags": [["name": "x"], ["name": "y"]], "given": "Ann", "family": ["name": "Lee"]],
                ["id": 2, "family": nil, "given": "Bo"], ["id": 3], ["id": 4, "given": nil], as: "E", in: model)
                    == """
                    E id=1 tags='x|y' name='Ann Lee'
                    E id=2 name='Bo'
                    E id=3
                    E id=4 name=null
                    """)
    }

    @Test func `a list or object cannot be transformed`() throws {
        #expect(
            try local([1], as: .text, .trim)
                == "! the array [1] cannot be transformed: it is not a single value")
    }

    @Test func `a constant is the same for every object`() throws {
        let model = try CompiledModel.of(
            Entity(
                "E", key: ["source", "id"],
                [
                    .constant("source", .text, "registry"), .of("id", .integer), .constant("rank", .integer, 7),
                    .constant("day", .date, "2024-02-29"), .constant("none", .text, nil),
                    .constant("rate", .decimal, "0.10"), .constant("on", .boolean, true),
                    .constant("meta", .json, ["a": [1, 2.5, nil, true], "b": "x\"y"]),
                ]))
        #expect(
            try mapped(["id": 1, "source": "ignored", "rank": 9], as: "E", in: model) == """
                E source='registry' id=1 rank=7 day='2024-02-29' none=null rate='0.10' on=1 \
                meta='{"a":[1,2.5,null,true],"b":"x\\"y"}'
                """)
    }
}
