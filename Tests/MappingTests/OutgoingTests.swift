import ImportTestSupport
import Mapping
import Model
import RecordBatch
import Testing
import TestSupport

/// What goes back to the remote is what would be read as the same row.
@Suite struct OutgoingTests {
    /// The remote value of a local one as JSON, or `! ` and the reason.
    private func remote(
        _ value: StoredValue, as type: AttributeType, _ transformers: Transformer..., form: WriteRule.Form? = nil
    ) throws -> String {
        var attribute = Attribute(name: "value", type: type, transformers: transformers)
        attribute.write = WriteRule(form: form, isExplicit: form != nil)
        let model = try CompiledModel.of(writable(Entity("E", key: ["id"], [.of("id", .integer), attribute])))
        do {
            return try OutgoingPlan(of: 0, in: model).object(["value": value]).json
        } catch {
            return "! " + error.description
        }
    }

    private func writable(_ entity: Entity) -> Entity {
        var entity = entity
        entity.isWritable = true
        return entity
    }

    @Test func `each type has a remote form`() throws {
        #expect(try remote(.text("a\"b"), as: .text) == #"{"value":"a\"b"}"#)
        #expect(try remote(.integer(-7), as: .integer) == #"{"value":-7}"#)
        #expect(try remote(.real(0.5), as: .real) == #"{"value":0.5}"#)
        #expect(try remote(.integer(1), as: .boolean) == #"{"value":true}"#)
        #expect(try remote(.text("12.50"), as: .decimal) == #"{"value":12.50}"#)
        #expect(try remote(.text("12.50"), as: .decimal, form: .text) == #"{"value":"12.50"}"#)
        #expect(
            try remote(.text("2026-11-21T07:08:08.000000Z"), as: .timestamp) == #"{"value":"2026-11-21T07:08:08Z"}"#)
        #expect(
            try remote(.text("2026-11-21T07:08:08.250000Z"), as: .timestamp) == #"{"value":"2026-11-21T07:08:08.25Z"}"#)
        #expect(try remote(.text("2026-11-21"), as: .date) == #"{"value":"2026-11-21"}"#)
        #expect(try remote(.bytes([1, 2]), as: .data) == #"{"value":"AQI="}"#)
        #expect(try remote(.text(#"{"a":[1]}"#), as: .json) == #"{"value":{"a":[1]}}"#)
        #expect(try remote(.text("https://example.com/"), as: .url) == #"{"value":"https://example.com/"}"#)
        #expect(try remote(.integer(17), as: .integer, form: .text) == #"{"value":"17"}"#)
        #expect(try remote(.text("17"), as: .text, form: .number) == #"{"value":17}"#)
        #expect(try remote(.null, as: .text) == #"{"value":null}"#)
    }

    @Test func `transformers are undone from the last to the first`() throws {
        #expect(try remote(.text("eu-7"), as: .text, .prefix("eu-")) == #"{"value":"7"}"#)
        #expect(try remote(.text("bob"), as: .text, .stripPrefix("/users/")) == #"{"value":"/users/bob"}"#)
        #expect(try remote(.text("BOB"), as: .text, .trim, .uppercase, .prefix("")) == #"{"value":"BOB"}"#)
        #expect(try remote(.integer(255), as: .integer, .base(16)) == #"{"value":"ff"}"#)
        #expect(try remote(.text("1970-01-01T00:00:01.000000Z"), as: .timestamp, .unit(.seconds)) == #"{"value":1}"#)
        #expect(
            try remote(.text("1970-01-01T00:00:01.500000Z"), as: .timestamp, .unit(.milliseconds)) == #"{"value":1500}"#
        )
        #expect(
            try remote(.text("1969-12-31T23:59:59.500000Z"), as: .timestamp, .unit(.seconds)) == #"{"value":-0.500000}"#
        )
        #expect(try remote(.text("2026-02-03"), as: .date, .format("%d.%m.%Y")) == #"{"value":"03.02.2026"}"#)
        let letters = Transformer.map([
            ValueMapping(remote: "A", local: "active"), ValueMapping(remote: "B", local: "active"),
            ValueMapping(remote: "", local: nil),
        ])
        #expect(try remote(.text("active"), as: .text, letters) == #"{"value":"A"}"#, "the first line that fits")
        #expect(try remote(.null, as: .text, letters) == #"{"value":""}"#)
        let numbers = Transformer.map([ValueMapping(remote: "0", local: "off"), ValueMapping(remote: "1", local: "on")])
        #expect(try remote(.text("on"), as: .text, numbers) == #"{"value":1}"#)
    }

    @Test func `a map compares local values byte by byte`() throws {
        let letters = Transformer.map([
            ValueMapping(remote: "C", local: "\u{e9}"), ValueMapping(remote: "D", local: "e\u{301}"),
        ])
        #expect(try remote(.text("\u{e9}"), as: .text, letters) == #"{"value":"C"}"#)
        #expect(try remote(.text("e\u{301}"), as: .text, letters) == #"{"value":"D"}"#)
    }

    @Test func `what would come back as another value is refused with the reason`() throws {
        #expect(
            try remote(.text("7"), as: .text, .prefix("eu-"))
                == #"! E.value: "7" cannot be written: it does not begin with "eu-""#)
        #expect(
            try remote(.text(" a"), as: .text, .trim)
                == #"! E.value: " a" cannot be written: it would come back as "a""#)
        #expect(
            try remote(.text(""), as: .text, .emptyAsNull)
                == #"! E.value: "" cannot be written: it would come back as null"#)
        #expect(
            try remote(.text("2026-02-03T04:05:06.700000Z"), as: .timestamp, .format("%Y-%m-%d %H:%M:%S"))
                == #"! E.value: "2026-02-03T04:05:06.700000Z" cannot be written: it would come back as "2026-02-03T04:05:06.000000Z""#
        )
        #expect(
            try remote(.text("gone"), as: .text, .map([ValueMapping(remote: "A", local: "active")]))
                == #"! E.value: "gone" cannot be written: the map has no remote value for it, only for "active""#)
    }

    @Test func `a text that a number cannot hold is not sent as one`() throws {
        for text in ["17", "-5", "0", "1.10", "1.0", "12345678901234567890123", "0.5"] {
            #expect(try remote(.text(text), as: .text, form: .number) == #"{"value":\#(text)}"#)
        }
        for (text, back) in [("01234", "1234"), ("1e3", "1000"), ("+5", "5"), ("-0", "0"), (".5", "0.5")] {
            let refusal =
                #"! E.value: "\#(text)" cannot be written: it is sent as a number, and it would come back as "\#(back)""#
            #expect(try remote(.text(text), as: .text, form: .number) == refusal)
        }
        #expect(
            try remote(.text("x-01"), as: .text, .prefix("x-"), form: .number)
                == #"! E.value: "x-01" cannot be written: it is sent as a number, and it would come back as "x-1""#)
        #expect(try remote(.text("12.50"), as: .decimal, form: .number) == #"{"value":12.50}"#)
        #expect(try remote(.integer(17), as: .integer, form: .number) == #"{"value":17}"#)
    }

    @Test func `a row that goes out is read as the same row`() throws {
        let owner = Entity("Owner", key: ["code"], [.of("code", .text, from: ["ref", "code"], .prefix("o-"))])
        let part = Entity("Part", key: ["a", "b"], [.of("a", .integer), .of("b", .text)])
        let all: [Attribute] = [
            .of("id", .integer, from: ["meta", "id"]), .of("city", .text, from: ["address", "city"], .trim),
            .of("zip", .integer, from: ["address", "zip"], .base(36)), .of("price", .decimal), .of("score", .real),
            .of("active", .boolean, .map([ValueMapping(remote: "Y", local: 1), ValueMapping(remote: "N", local: 0)])),
            .of("seen", .timestamp, .unit(.milliseconds)), .of("at", .timestamp),
            .of("born", .date, .format("%d/%m/%Y")),
            .of("photo", .data), .of("extra_data", .json), .of("home", .url, .stripPrefix("url:")), .of("token", .uuid),
            .of("nick", .text, .emptyAsNull), .of("level", .text, .lowercase, .stripPrefix("l-")),
        ]
        var withMaps = all
        withMaps[5] = .of(
            "active", .boolean,
            .map([ValueMapping(remote: "Y", local: true), ValueMapping(remote: "N", local: false)]))
        let thing = Entity(
            "Thing", key: ["id"], withMaps,
            [.one("owner", "Owner"), .one("part", "Part"), .many("owners", "Owner"), .many("parts", "Part")])
        let model = try CompiledModel.of(writable(thing), owner, part)
        let columns: [String: StoredValue] = [
            "id": .integer(5), "city": .text("Lyon"), "zip": .integer(69001), "price": .text("-0.10"),
            "score": .real(1e-7), "active": .integer(0), "seen": .text("2026-11-21T07:08:08.123000Z"),
            "at": .text("0001-01-01T00:00:00.000001Z"), "born": .text("1999-12-31"), "photo": .bytes([0, 255]),
            "extra_data": .text(#"{"a":[1,null,"x"]}"#), "home": .text("http://example.com"),
            "token": .text("7b0d4a8e-0000-4000-8000-000000000001"), "nick": .null, "level": .text("high"),
            "owner": .text("o-1"), "part_a": .integer(3), "part_b": .text("x"),
        ]
        let links: [String: [[StoredValue]]] = [
            "owners": [[.text("o-2")], [.text("o-1")]], "parts": [[.integer(1), .text("y")]],
        ]
        for form in [nil, WriteRule.Form.object] {
            var shaped = thing
            for index in shaped.relationships.indices { shaped.relationships[index].write.form = form }
            let model = form == nil ? model : try CompiledModel.of(writable(shaped), owner, part)
            let remote = try OutgoingPlan(of: 0, in: model).object(columns, links: links)
            let writer = RecordBatchWriter()
            remote.write(to: writer)
            let page = Mapper(model).map(try writer.finish(), as: 0)
            try withExtendedLifetime(page) {
                #expect(page.rejections.map(\.reason) == [])
                let row = try #require(page.rows.first)
                for (offset, field) in model.entities[0].fields.enumerated() {
                    #expect(
                        page.cells[row.firstCell + offset].value == columns[field.name], "\(field.name): \(remote.json)"
                    )
                }
                var read: [String: [[StoredValue]]] = [:]
                for link in page.links where link.row == 0 {
                    let toMany = model.entities[0].toMany[link.relationship]
                    let width = model.entities[toMany.target].key.count
                    read[toMany.name] = (0..<link.count).map { index in
                        (0..<width).map { page.linkCells[link.firstCell + index * width + $0].value ?? .null }
                    }
                }
                #expect(read == links)
            }
        }
    }

    @Test func `only what a scan fills with the parents key is left out`() throws {
        var member = writable(
            Entity(
                "Member", key: ["team_name", "team_id", "id"],
                [
                    .of("id", .integer), .of("team_id", .integer, from: ["team"]),
                    .of("team_name", .text, from: ["team", "name"]),
                ], [.one("team", "Team")]))
        member.parent = ParentScan(relationship: "team")
        let team = Entity("Team", key: ["id"], [.of("id", .integer), .of("name", .text)])
        let plan = try OutgoingPlan(of: 0, in: CompiledModel.of(member, team))
        let columns: [String: StoredValue] = [
            "id": .integer(7), "team_id": .integer(1), "team_name": .text("a"), "team": .integer(1),
        ]
        #expect(try plan.object(columns).json == #"{"id":7,"team":{"name":"a"}}"#)
        #expect(plan.newMembers == ["id"])
    }

    @Test func `what cannot be set says why`() throws {
        var id = Attribute.of("id", .integer)
        id.write.permission = .never
        var login = Attribute.of("login", .text)
        login.write.permission = .createOnly
        let note = writable(
            Entity(
                "Note", key: ["id"],
                [id, login, .constant("kind", .text, "note"), .of("tags", .json, from: ["tags", "name"])],
                [.one("author", "Person"), .many("readers", "Person")]))
        let person = Entity(
            "Person", key: ["id"], [.of("id", .integer)], [.many("notes", "Note", inverse: "author")])
        let model = try CompiledModel.of(note, person)
        let plan = OutgoingPlan(of: 0, in: model)
        func reason(_ name: String, isNew: Bool = true) -> String? { plan.refusal(of: name, isNew: isNew)?.description }
        #expect(reason("id") == #"Note.id comes from the remote only ("write: false")"#)
        #expect(reason("id", isNew: false) == "Note.id is part of the key, which cannot be changed")
        #expect(reason("login") == nil)
        #expect(reason("login", isNew: false) == #"Note.login can be set in a new object only ("write: create_only")"#)
        #expect(reason("kind") == "Note.kind is a constant of the configuration")
        #expect(reason("tags")?.contains("may lead across a list") == true)
        #expect(reason("author") == nil)
        #expect(reason("readers", isNew: false) == nil)
        #expect(plan.mappedMembers == ["id", "login", "tags", "author", "readers"])
        #expect(reason("nothing") == #"Note has no attribute or relationship "nothing""#)
        #expect(plan.newMembers == ["login", "author"], "what a new object can have")
        let people = OutgoingPlan(of: 1, in: model)
        #expect(
            people.refusal(of: "notes", isNew: true)?.description
                == #"Person is not writable; add "writable: true" to the entity"#)
        var author = person
        author.isWritable = true
        let both = try CompiledModel.of(note, author)
        #expect(
            OutgoingPlan(of: 1, in: both).refusal(of: "notes", isNew: true)?.description
                == "Person.notes is stored by the other side: set Note.author")
    }
}
