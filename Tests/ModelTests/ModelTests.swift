import Model
import Testing

@Suite struct ModelTests {
    private static func entity(_ name: String, _ relationships: [Relationship], key: [String] = ["id"]) -> Entity {
        Entity(
            name: name, bridge: "b", key: key, attributes: key.map { Attribute(name: $0) }, relationships: relationships
        )
    }

    @Test(arguments: [
        ("a", ["a"]), ("a.b", ["a", "b"]), ("a\\.b.c", ["a.b", "c"]), ("a\\\\b", ["a\\b"]), ("ä.@id", ["ä", "@id"]),
        ("a\\[0].b", ["a[0]", "b"]), ("a[b]", ["a[b]"]),
    ])
    func `a path is read and written`(_ text: String, _ components: [String]) {
        #expect(RemotePath(text)?.components == components)
        #expect(RemotePath(components).description == text)
    }

    @Test(arguments: ["", ".", "a.", ".a", "a..b", "a\\", "a\\b"])
    func `a path without names is none`(_ text: String) {
        #expect(RemotePath(text) == nil)
    }

    @Test func `a to one has a column for each attribute of the targets key`() throws {
        let pair = Self.entity("Pair", [], key: ["left", "right"])
        let pairing = Relationship(name: "pair", kind: .toOne, target: "Pair")
        let other = Relationship(name: "other", kind: .toOne, target: "Thing")
        let thing = Self.entity("Thing", [pairing, other])
        let model = Model(entities: [pair, thing])
        #expect(model.storage(of: pairing, in: thing) == .columns(["pair_left", "pair_right"]))
        #expect(model.storage(of: other, in: thing) == .columns(["other"]))
        #expect(model.storage(of: Relationship(name: "x", kind: .toOne, target: "None"), in: thing) == nil)
    }

    @Test func `a to many is kept by its inverse or in one table`() throws {
        let tags = Relationship(name: "tags", kind: .toMany, target: "Tag", inverse: "articles")
        let author = Relationship(name: "author", kind: .toOne, target: "Author")
        let article = Self.entity("Article", [tags, author])
        let articles = Relationship(name: "articles", kind: .toMany, target: "Article")
        let tag = Self.entity("Tag", [articles])
        let written = Relationship(name: "written", kind: .toMany, target: "Article", inverse: "author")
        let writer = Self.entity("Author", [written])
        let model = Model(entities: [article, tag, writer])
        #expect(model.storage(of: tags, in: article) == .joinTable(name: "Article_tags"))
        #expect(model.storage(of: articles, in: tag) == .inverse(entity: "Article", relationship: "tags"))
        #expect(model.storage(of: written, in: writer) == .inverse(entity: "Article", relationship: "author"))
        #expect(model.inverse(of: author, in: article)?.relationship.name == "written")
    }

    @Test func `an entity is found by its name in what a model has now`() {
        var model = Model(entities: [Self.entity("A", []), Self.entity("B", []), Self.entity("A", [], key: ["other"])])
        #expect(model.entity(named: "A")?.key == ["id"], "the first of two")
        #expect(model.entity(named: "C") == nil)
        model.entities[0].name = "C"
        #expect(model.entity(named: "C")?.key == ["id"])
        #expect(model.entity(named: "A")?.key == ["other"])
        model.entities.removeLast()
        #expect(model.entity(named: "A") == nil)
        #expect(model.family(of: model.entities[0]).map(\.name) == ["C"])
        model.entities[1].superentity = "C"
        #expect(model.family(of: model.entities[0]).map(\.name) == ["C", "B"])
        #expect(model.hasSubentities(model.entities[0]))
    }

    @Test func `a place is written as compilers do`() {
        let place = SourceLocation(file: "bmo.yml", line: 3, column: 5)
        #expect("\(place)" == "bmo.yml:3:5")
        #expect(
            Diagnostic(location: place, message: "no", remedy: "yes").description == "bmo.yml:3:5: error: no; yes")
    }

    @Test func `a document of another program keeps the digits of its numbers`() throws {
        let text = "version: 1.10\ncode: 007\ncount: 5\nratio: 0.5\nquoted: '1'\n"
        let json = #"{"version":1.10,"code":"007","count":5,"ratio":0.5,"quoted":"1"}"#
        #expect(try YAMLDocument.json(text) == json)
    }
}
