import BridgeKit
import RecordBatch
import Testing
import TestSupport

@testable import SOAPBridge

/// What `bmo check` can say of a section without the WSDL.
@Suite struct SectionValidatorTests {
    private func faults(_ section: Literal, names: EntityNames?) throws -> [String] {
        var request = FetchRequest(entity: "Note", section: section.options)
        request.validates = true
        request.names = names
        return SOAPSectionValidator(request: request).faults().map(\.message)
    }

    @Test func `names of missing attributes are reported, with what was meant`() throws {
        let section: Literal = [
            "operation": "ListNotes", "records": "ListNotesResponse/note", "input": ["of": "{parent.id}"],
            "write": [
                "create": ["operation": "Add", "input": ["by": "{object.autor}"], "attributes": ["who": "writer"]],
                "delete": ["operation": "Delete", "key": ["idd": "noteId"]],
            ],
        ]
        let names = EntityNames(fields: ["id", "author"], key: ["id"])
        #expect(
            try faults(section, names: names) == [
                "input: {parent.id} never has a value",
                #"write.create.input: {object.autor} names no attribute (did you mean "author"?)"#,
                #"write.create.attributes.who: "writer" names no attribute"#,
                #"write.delete.key.idd: "idd" names no attribute (did you mean "id"?)"#,
            ])
        let single: Literal = ["write": ["delete": ["operation": "Delete", "key": "noteId"]]]
        #expect(
            try faults(single, names: EntityNames(fields: ["a", "b"], key: ["a", "b"])) == [
                "write.delete.key: one element for a key of 2 parts"
            ])
        #expect(try faults(single, names: names).isEmpty)
        #expect(try faults(single, names: nil).isEmpty)
    }
}
