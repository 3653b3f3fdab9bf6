import Testing

@testable import RESTBridge

/// How `{fields}` names what the mapping reads.
@Suite struct FieldSelectionTests {
    private static let cases: [(SelectedFields.Notation, String)] = [
        (.names, "id,tags,phones"), (.dots, "id,tags,phones.number"), (.parentheses, "id,tags,phones(number)"),
        (.braces, "id,tags,phones{number}"), (.graphQL, "id tags phones { number }"),
    ]

    @Test(arguments: cases)
    func `an element of a list is selected by its list`(notation: SelectedFields.Notation, expected: String) {
        let paths = [["id"], ["tags", "0"], ["tags", "1"], ["phones", "0", "number"]]
        #expect(SelectedFields.text(notation, paths, besides: [], leavingOut: []) == expected)
    }
}
