import Testing

@Suite struct SourceRuleTests {
    @Test func noSourceUsesWhatIsRuledOut() throws {
        let violations = try SourceTree.files(in: "Sources", "Plugins").flatMap { file in
            SourceRules.violations(in: file.text, path: file.path, of: file.target)
        }
        #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }

    @Test func noFileIsTooLong() throws {
        let violations = try SourceTree.files(in: "Sources", "Plugins", "Tests").compactMap { file in
            SourceRules.lengthViolation(in: file.text, path: file.path)
        }
        #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }

    @Test func everyTargetExplainsItself() throws {
        let files = try SourceTree.files(in: "Sources", "Plugins")
        let byTarget = Dictionary(grouping: files, by: \.target)
        for (target, files) in byTarget.sorted(by: { $0.key < $1.key }) {
            let texts = Dictionary(
                files.map { file in
                    (file.path.split(separator: "/").dropFirst(2).joined(separator: "/"), file.text)
                }, uniquingKeysWith: { first, _ in first })
            #expect(SourceRules.folderViolation(of: target, files: texts) == nil)
        }
    }

    @Test func aBadFileIsFound() {
        #expect(
            SourceRules.violations(in: "let x = try JSONSerialization.data()", path: "Sources/BMO/X.swift", of: "BMO")
                == ["Sources/BMO/X.swift: uses JSONSerialization; use CSimdJSON or RecordBatch"])
        #expect(SourceRules.violations(in: "JSONSerialization", path: "x", of: "BMOCommand").isEmpty)
        #expect(SourceRules.violations(in: "import FoundationNetworking", path: "x", of: "BMOCommand").count == 1)
        #expect(SourceRules.violations(in: "final class MyXMLParser {}", path: "x", of: "SOAPBridge").isEmpty)
        let long = String(repeating: "\n", count: 501)
        #expect(SourceRules.lengthViolation(in: long, path: "x") == "x: 501 lines; split it at 500")
        #expect(SourceRules.lengthViolation(in: String(long.dropLast()), path: "x") == nil)
    }

    @Test func aFolderWithoutExplanationIsFound() {
        #expect(
            SourceRules.folderViolation(of: "Model", files: ["Other.swift": "/// A"])
                == "Model: neither README.md nor Model.swift explains it")
        #expect(
            SourceRules.folderViolation(of: "Model", files: ["Model.swift": "public import Yams\n\npublic struct A {}"])
                == "Model: Model.swift does not begin with a comment that explains it")
        #expect(
            SourceRules.folderViolation(of: "Model", files: ["Model.swift": "import Yams\n\n/// The model."]) == nil)
        #expect(SourceRules.folderViolation(of: "CCurl", files: ["shim.h": "#ifndef A\n#define A\n/* curl */"]) == nil)
        #expect(SourceRules.folderViolation(of: "New", files: ["README.md": "# New"]) == nil)
    }
}
