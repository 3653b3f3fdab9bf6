import Model
import Testing
@testable import BMO

/// The names of code stand for it where a changed mapping matters.
@Suite struct CodeFingerprintTests {
    private func fingerprint(_ transformer: String, _ matcher: String) -> String {
        let title = Attribute(name: "title", transformers: [.trim, .code(transformer)])
        let note = Entity(
            name: "Note", bridge: "api", key: ["id"], attributes: [Attribute(name: "id", type: .integer), title])
        var urgent = Entity(name: "Urgent", bridge: "", key: [], attributes: [])
        urgent.superentity = "Note"
        urgent.matcher = Matcher([.code(matcher)])
        return MappingFingerprint.text(of: Model(entities: [note, urgent]), for: note)
    }

    @Test func `another name is another mapping`() {
        let one = fingerprint("cents/1", "urgent/1")
        #expect(one == fingerprint("cents/1", "urgent/1"))
        #expect(one != fingerprint("cents/2", "urgent/1"))
        #expect(one != fingerprint("cents/1", "urgent/2"))
    }
}
