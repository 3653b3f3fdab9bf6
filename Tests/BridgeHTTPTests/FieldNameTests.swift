import Testing

@testable import BridgeHTTP

/// Names of header fields are compared without the case of ASCII letters, and of no others.
@Suite struct FieldNameTests {
    @Test(
        arguments: [
            ("Content-Type", "content-type", true), ("ETAG", "ETag", true), ("X-A", "X-B", false),
            ("X-A", "X-AA", false),
            ("", "", true), ("X-[", "X-{", false), ("X-@", "X-`", false), ("É", "é", false),
        ])
    func `names are compared`(_ first: String, _ second: String, _ isSame: Bool) {
        #expect(first.isSameField(as: second) == isSame)
        #expect(second.isSameField(as: first) == isSame)
    }
}
