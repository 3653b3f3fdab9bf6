import Model
import Testing
@testable import BMO

/// What counts as a changed mapping: other names of code, and of columns and tables.
@Suite struct CodeFingerprintTests {
    private func fingerprint(_ transformer: String, _ matcher: String) -> String {
        let title = Attribute(name: "title", transformers: [.trim, .code(transformer)])
        let note = Entity(
            name: "Note", bridge: "api", key: ["id"], attributes: [Attribute(name: "id", type: .integer), title])
        var urgent = Entity(name: "Urgent", bridge: "", key: [], attributes: [])
        urgent.superentity = "Note"
        urgent.matcher = Matcher([.code(matcher)])
        return MappingFingerprints(of: Model(entities: [note, urgent])).text(for: note)
    }

    @Test func `another name is another mapping`() {
        let one = fingerprint("cents/1", "urgent/1")
        #expect(one == fingerprint("cents/1", "urgent/1"))
        #expect(one != fingerprint("cents/2", "urgent/1"))
        #expect(one != fingerprint("cents/1", "urgent/2"))
    }

    private func fingerprint(_ author: [String], _ tags: (table: String?, columns: [String])) -> String {
        var one = Relationship(name: "author", kind: .toOne, target: "Tag")
        one.columns = author
        var many = Relationship(name: "tags", kind: .toMany, target: "Tag")
        (many.table, many.linkColumns) = (tags.table, tags.columns)
        let id = Attribute(name: "id", type: .integer)
        let note = Entity(name: "Note", bridge: "api", key: ["id"], attributes: [id], relationships: [one, many])
        let tag = Entity(name: "Tag", bridge: "api", key: ["id"], attributes: [id])
        return MappingFingerprints(of: Model(entities: [note, tag])).text(for: note)
    }

    @Test func `names of columns and tables count unless they are the default ones`() {
        let usual = fingerprint([], (nil, []))
        #expect(usual == fingerprint(["author"], ("Note_tags", ["source", "target"])))
        let others = [
            usual, fingerprint(["author_id"], (nil, [])), fingerprint(["writer_id"], (nil, [])),
            fingerprint([], ("note_tags", [])), fingerprint([], ("labels", [])),
            fingerprint([], (nil, ["note", "tag"])), fingerprint([], (nil, ["tag", "note"])),
        ]
        #expect(Set(others).count == others.count)
    }

    @Test func `a fingerprint is that of all entities that a record may contain, as databases have it`() {
        let id = Attribute(name: "id", type: .integer)
        let author = Relationship(name: "author", kind: .toOne, target: "Tag")
        let note = Entity(name: "Note", bridge: "api", key: ["id"], attributes: [id], relationships: [author])
        let tag = Entity(name: "Tag", bridge: "api", key: ["id"], attributes: [id])
        var urgent = Entity(name: "Urgent", bridge: "", key: [], attributes: [])
        urgent.superentity = "Note"
        let fingerprints = MappingFingerprints(of: Model(entities: [note, tag, urgent]))
        // A database holds these: other ones would make each scan a full one.
        #expect(fingerprints.text(for: note) == "345808218ad3ff09")
        #expect(fingerprints.text(for: urgent) == "345808218ad3ff09", "the records of a family may be any of it")
        #expect(fingerprints.text(for: tag) == "3c0f9845e92e04f5", "nothing leads from it to a note")
    }
}
