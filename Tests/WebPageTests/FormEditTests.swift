import ImportTestSupport
import Mapping
import Model
import StoreContract
import Testing
import WebServer

@testable import WebPage

@Suite struct FormEditTests {
    private let layout: EntityLayout

    init() throws {
        layout = try CompiledModel.of(
            Entity(
                "Note", key: ["id"],
                [.of("id", .integer), .of("text", .text), .of("done", .boolean), .of("size", .integer)])
        ).entities[0]
    }

    private func values(_ form: String) throws -> [String: StoredValue] {
        try FormEdit.edit(FormFields(form), of: layout, key: [.integer(1)], current: nil).values
    }

    @Test func `only what the person changed is part of the edit`() throws {
        #expect(try values("v.text=a&w.text=a&v.size=3&w.size=2") == ["size": .integer(3)])
        #expect(try values("").isEmpty)
        #expect(try values("v.unknown=a&w.unknown=b").isEmpty)
    }

    @Test func `null and the empty text differ`() throws {
        #expect(try values("v.text=&w.text=a") == ["text": .text("")])
        #expect(try values("v.text=a&w.text=a&n.text=1") == ["text": .null])
        #expect(try values("v.text=&w.text=&wn.text=1&n.text=1").isEmpty)
        #expect(try values("v.text=&w.text=&wn.text=1") == ["text": .text("")])
        #expect(try values("v.text=new&w.text=&wn.text=1&n.text=1") == ["text": .text("new")])
    }

    @Test func `the empty text of a choice is null`() throws {
        #expect(try values("v.done=&w.done=&wn.done=1").isEmpty)
        #expect(try values("v.done=false&w.done=&wn.done=1") == ["done": .boolean(false)])
        #expect(try values("v.done=&w.done=true") == ["done": .null])
        #expect(try values("v.done=true&w.done=true").isEmpty)
    }

    @Test(arguments: [
        ("v.text=mine&w.text=old", "text is \"new\" now, and was \"old\""),
        ("v.size=5&w.size=&wn.size=1", "size is \"3\" now, and was null"),
        ("v.done=true&w.done=false", "done is null now, and was \"false\""),
    ])
    func `a value that changed after the page was loaded is not overwritten`(form: String, words: String) {
        let current: [StoredValue] = [.integer(1), .text("new"), .null, .integer(3)]
        let failure = #expect(throws: PageFailure.self) {
            try FormEdit.edit(FormFields(form), of: layout, key: [.integer(1)], current: current)
        }
        #expect(failure?.status == 409)
        #expect(failure?.description.hasPrefix(words) == true, "\(String(describing: failure))")
    }

    @Test(arguments: [
        "v.text=new&w.text=old", "v.done=&w.done=false", "v.size=3&w.size=2", "n.size=1&v.size=3&w.size=3",
    ])
    func `a form that is sent again finds its values and changes nothing`(form: String) throws {
        let size: StoredValue = form.hasPrefix("n.size") ? .null : .integer(3)
        let current: [StoredValue] = [.integer(1), .text("new"), .null, size]
        let edit = try FormEdit.edit(FormFields(form), of: layout, key: [.integer(1)], current: current)
        #expect(edit.values.isEmpty)
    }

    @Test func `another Unicode form of the same text is another value`() throws {
        let current: [StoredValue] = [.integer(1), .text("\u{E9}"), .null, .null]
        let edit = try FormEdit.edit(
            FormFields("v.text=e%CC%81&w.text=%C3%A9"), of: layout, key: [.integer(1)], current: current)
        #expect(edit.values == ["text": .text("e\u{301}")])
    }

    @Test func `a field that was not touched may have changed`() throws {
        let current: [StoredValue] = [.integer(1), .text("new"), .null, .integer(3)]
        let edit = try FormEdit.edit(
            FormFields("v.text=old&w.text=old&v.size=4&w.size=3"), of: layout, key: [.integer(1)], current: current)
        #expect(edit.values == ["size": .integer(4)])
    }

    @Test func `line ends stay those of the value`() throws {
        // A browser sends every line end as CR LF, also in fields that are not shown.
        #expect(try values("v.text=a%0D%0Ab&w.text=a%0D%0Ab").isEmpty && values("v.text=a%0D%0Ab&w.text=a%0Ab").isEmpty)
        #expect(try values("v.text=a%0D%0Ac&w.text=a%0D%0Ab") == ["text": .text("a\nc")])
        #expect(try values("v.text=a%0D%0Ac&w.text=a%0D%0Ab&cr.text=1") == ["text": .text("a\r\nc")])
    }

    @Test func `all values that do not fit are named`() {
        let failure = #expect(throws: PageFailure.self) { try values("v.size=x&v.done=maybe") }
        #expect(failure?.status == 400)
        #expect(failure?.description.contains("size: ") == true && failure?.description.contains("done: ") == true)
    }
}

@Suite struct EntityListTests {
    private let layout: EntityLayout

    init() throws {
        layout = try CompiledModel.of(Entity("Note", key: ["id"], [.of("id", .integer), .of("text", .text)])).entities[
            0]
    }

    @Test func `an address says conditions, order and place`() throws {
        let list = try EntityList(
            FormFields("where=id%3E3&field=text&is=~&value=a%25&sort=-text&after=7&limit=20"), of: layout,
            isExport: false)
        #expect(list.conditions == ["id>3", "text~a%"] && list.place.key == ["7"])
        #expect(list.query.order == [RowQuery.Order("text", isDescending: true)])
        #expect(list.query.limit == 21, "one more says whether there are more")
        #expect(
            list.query.conditions == [
                LocalCondition(field: "id", comparison: .greater, value: "3"),
                LocalCondition(field: "text", comparison: .like, value: "a%"),
            ])
    }

    @Test func `spaces before a number do not count`() throws {
        let list = try EntityList(FormFields("field=id&is=%3D&value=%203"), of: layout, isExport: false)
        #expect(list.query.conditions == [LocalCondition(field: "id", comparison: .equal, value: "3")])
    }

    @Test(arguments: [
        "where=nofield%3D1", "where=x", "sort=nofield", "limit=0", "limit=501", "limit=x",
        "field=text&is=%3D&value=%20a", "field=text&is=!&value=a",
    ])
    func `a fault in an address is a failure of the request`(query: String) {
        let failure = #expect(throws: PageFailure.self) {
            try EntityList(FormFields(query), of: layout, isExport: false)
        }
        #expect(failure?.status == 400)
    }
}

@Suite struct ModelPictureTests {
    @Test func `an entity is to the right of those that it refers to, also in a cycle`() throws {
        let model = try CompiledModel.of(
            Entity("A", key: ["id"], [.of("id", .integer)], [.one("b", "B")]),
            Entity("B", key: ["id"], [.of("id", .integer)], [.one("c", "C")]),
            Entity("C", key: ["id"], [.of("id", .integer)]),
            Entity("D", key: ["id"], [.of("id", .integer)], [.one("e", "E"), .one("self", "D")]),
            Entity("E", key: ["id"], [.of("id", .integer)], [.one("d", "D")]))
        let picture = ModelPicture(model)
        let x = Dictionary(uniqueKeysWithValues: picture.boxes.map { (model.entities[$0.entity].name, $0.x) })
        #expect(try #require(x["A"]) > #require(x["B"]) && #require(x["B"]) > #require(x["C"]))
        #expect(x.count == 5 && x["D"] != x["E"])
        for box in picture.boxes { #expect(picture.width >= box.x + 230 + 45, "a line to the right has room") }
        for (index, box) in picture.boxes.enumerated() {
            for other in picture.boxes[(index + 1)...] where other.x == box.x {
                #expect(other.y >= box.y + box.height, "boxes of a column do not overlap")
            }
        }
    }
}
