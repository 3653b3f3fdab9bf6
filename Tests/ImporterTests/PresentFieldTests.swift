import ImportTestSupport
import Importer
import Mapping
import Model
import Testing
import TestSupport

/// What records have of the fields that the configuration reads.
@Suite struct PresentFieldTests {
    @Test func `paths that nothing reads are kept without secrets`() throws {
        let model = try CompiledModel.of(Entity("City", key: ["id"], [.of("id", .integer), .of("name", .text)]))
        var present = PresentFields([1], of: 0)
        let batch = try Literal.batch([["id": 1, "token-1": 1, "x": 2]])
        let redaction = Redaction(data: { $0 }, words: { $0.replacing("token-1", with: "***") })
        present.note(MappedBatch(batch, by: Mapper(model), as: 0), redaction)
        #expect(present.missing == [1] && present.records == 1)
        #expect(present.others == ["***", "x"])
    }
}
