import Testing

@Suite struct SourceRuleTests {
    @Test func `no source uses what is ruled out`() throws {
        let violations = try SourceTree.files(in: "Sources", "Plugins").flatMap { file in
            SourceRules.violations(in: file.text, path: file.path, of: file.target)
        }
        #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }

    @Test func `no tasks result is a tuple`() throws {
        let violations = try SourceTree.files(in: "Sources", "Plugins", "Tests")
            .filter { $0.path != "Tests/ArchitectureTests/SourceRuleTests.swift" }
            .flatMap { try SourceRules.tupleViolations(in: $0.text, path: $0.path) }
        #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }

    @Test(
        arguments: [
            "await withTaskGroup(of: (Int, String).self) { group in",
            "withThrowingTaskGroup(\n    of: (a: Int, b: Int).self",
            "let group: ThrowingTaskGroup<(Int, Int), any Error>", "var tasks: [Task<(Int, String), Never>] = []",
            "Task { () -> (Int, String) in", "Task.detached { [next] () async throws -> (index: Int, name: String) in",
            "group.addTask { [next] in (next, await work()) }", "group.addTask { return (next, try await work()) }",
            "Promise { (name: String) async throws(Failure) -> (Int, String) in",
        ])
    func `a task with a tuple is found`(source: String) throws {
        #expect(
            try SourceRules.tupleViolations(in: "\n" + source, path: "x")
                == ["x:2: a task's result is a tuple; return a struct (docs/decisions/0028)"])
    }

    @Test(
        arguments: [
            "await withTaskGroup(of: Ending.self) { group in", "func run() async -> (Int, String) {",
            "Task { await (a.run)() }", "group.addTask { (try? await work()) ?? 0 }",
            "state.withLock { state -> (Bool, Int) in (true, 1) }", "Task { (a, b) = (1, 2) }",
        ])
    func `a task without a tuple is not found`(source: String) throws {
        #expect(try SourceRules.tupleViolations(in: source, path: "x").isEmpty)
    }

    @Test func `no file is too long`() throws {
        let violations = try SourceTree.files(in: "Sources", "Plugins", "Tests").compactMap { file in
            SourceRules.lengthViolation(in: file.text, path: file.path)
        }
        #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }

    @Test func `no folder holds more than fifteen files`() throws {
        let files = try SourceTree.files(in: "Sources", "Plugins").filter { $0.path.hasSuffix(".swift") }
        let folders = Dictionary(grouping: files) { $0.path.split(separator: "/").dropLast().joined(separator: "/") }
        #expect(folders.count > 50)
        let crowded = folders.filter { $0.value.count > 15 }
        #expect(crowded.isEmpty, "\(crowded.map { "\($0.key): \($0.value.count) files" }.sorted())")
    }

    @Test func `a configuration is parsed in one place`() throws {
        let files = try SourceTree.files(in: "Sources").filter { $0.text.contains("YAMLParser.parse(") }
        // The other one reads OpenAPI documents.
        #expect(
            files.map { $0.path.split(separator: "/").last } == ["ConfigurationFile.swift", "YAMLDocument.swift"])
    }

    @Test func `every target explains itself`() throws {
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

    @Test func `a bad file is found`() {
        #expect(
            SourceRules.violations(in: "let x = try JSONSerialization.data()", path: "Sources/BMO/X.swift", of: "BMO")
                == ["Sources/BMO/X.swift: uses JSONSerialization; use BridgeJSON or RecordBatch"])
        #expect(SourceRules.violations(in: "JSONSerialization", path: "x", of: "BMOCommand").isEmpty)
        #expect(SourceRules.violations(in: "import FoundationNetworking", path: "x", of: "BMOCommand").count == 1)
        #expect(SourceRules.violations(in: "final class MyXMLParser {}", path: "x", of: "SOAPBridge").isEmpty)
        let long = String(repeating: "\n", count: 501)
        #expect(SourceRules.lengthViolation(in: long, path: "x") == "x: 501 lines; split it at 500")
        #expect(SourceRules.lengthViolation(in: String(long.dropLast()), path: "x") == nil)
    }

    @Test func `a folder without explanation is found`() {
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
