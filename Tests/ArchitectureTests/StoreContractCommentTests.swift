import Testing

/// Each protocol of the store contract tells its implementers and callers what they need to know.
@Suite struct StoreContractCommentTests {
    @Test func `a protocol of a store has an example and names its threads and errors`() throws {
        let files = try SourceTree.files(in: "Sources/StoreContract").filter { $0.path.hasSuffix(".swift") }
        var count = 0
        for file in files {
            var comment = ""
            for line in file.text.split(separator: "\n", omittingEmptySubsequences: false) {
                if line.hasPrefix("///") {
                    comment += line + "\n"
                } else if line.hasPrefix("public protocol ") {
                    count += 1
                    #expect(comment.contains("/// ```swift"), "\(line): an example is missing")
                    #expect(comment.contains("thread"), "\(line): which threads may call it?")
                    #expect(comment.contains("Error") || comment.contains("error"), "\(line): what does it throw?")
                    comment = ""
                } else {
                    comment = ""
                }
            }
        }
        #expect(count >= 15)
    }
}
