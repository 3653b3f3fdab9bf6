import Foundation
import TestSupport
import Testing

@Suite struct PlainEnglishTests {
    @Test func `comments are in plain English`() throws {
        let files = try SourceTree.files(in: "Sources", "Plugins")
        #expect(files.count > 100)
        let violations = files.flatMap { PlainEnglish.violations(inCommentsOf: $0.text, path: $0.path) }
        #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }

    @Test func `the docs are in plain English`() throws {
        let docs = try FileManager.default.contentsOfDirectory(atPath: PackageFolder.path + "/docs")
            .filter { $0.hasSuffix(".md") }.map { "docs/" + $0 }
        #expect(docs.count > 15)
        let violations = try (docs + ["README.md"]).sorted().flatMap {
            PlainEnglish.violations(inPage: try SourceTree.text(of: $0), path: $0)
        }
        #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }

    @Test(arguments: [
        "// Nobody knows.", "    /// The rows, of which none is new.", "let a = 1  // It is no text.",
        " * Tells of a change.", "// It is held against the schema.",
    ])
    func `a phrase is found in a comment`(source: String) throws {
        #expect(PlainEnglish.violations(inCommentsOf: source, path: "x").count == 1)
    }

    @Test(arguments: [
        "// There is no file.", "// It is no longer used.", "let name = \"nobody\"", "// Any number of rows.",
        "let text = \"\"\"\n    // nobody\n    \"\"\"",
    ])
    func `other text is not`(source: String) throws {
        #expect(PlainEnglish.violations(inCommentsOf: source, path: "x").isEmpty)
    }

    @Test func `code in a page is not prose`() throws {
        let page = "It says `nobody`.\n```\nnobody\n```\n    nobody\nIt says \"is no text\".\n"
        #expect(PlainEnglish.violations(inPage: page, path: "x").isEmpty)
        #expect(PlainEnglish.violations(inPage: page + "Nobody.\n", path: "x").count == 1)
    }
}
