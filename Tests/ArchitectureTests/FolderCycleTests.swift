import Testing

/// The folders of a target are layers: no folder uses types of a folder that uses its own.
@Suite struct FolderCycleTests {
    @Test func `the folders of a target form no cycle`() throws {
        let files = try SourceTree.files(in: "Sources", "Plugins").filter { $0.path.hasSuffix(".swift") }
        let targets = Dictionary(grouping: files, by: \.target)
        #expect(targets.count > 20)
        for (target, files) in targets.sorted(by: { $0.key < $1.key }) {
            let cycles = FolderGraph(files).cycles
            #expect(cycles.isEmpty, "\(target):\n\(cycles.joined(separator: "\n"))")
        }
    }

    private static func graph(_ sources: [(path: String, text: String)]) -> FolderGraph {
        FolderGraph(sources.map { SourceTree.File(path: $0.path, text: $0.text) })
    }

    @Test func `a cycle is found, with its uses`() {
        let graph = Self.graph([
            ("Sources/X/Low/Low.swift", "@available(*, deprecated)\npublic final class Low {\n    let high: High?\n}"),
            ("Sources/X/High/High.swift", "extension Low {}\nindirect enum High {}"),
            ("Sources/X/Above.swift", "struct Above { var high: High }"),
            ("Sources/X/Below/Below.swift", "struct Below {}\nprivate struct High {}"),
        ])
        #expect(
            graph.cycles == [
                "Sources/X/High/High.swift uses Low of Sources/X/Low/Low.swift",
                "Sources/X/Low/Low.swift uses High of Sources/X/High/High.swift",
            ])
    }

    @Test(arguments: [
        "// High", "/* High */", "let name = \"High \\\" High\"", "let text = \"\"\"\n    High \" High\n    \"\"\"",
        "let Higher = 1", "private struct Other {}",
    ])
    func `comments, strings and other words do not count`(source: String) {
        let graph = Self.graph([
            ("Sources/X/Low/Low.swift", "struct Low {}\n" + source),
            ("Sources/X/High/High.swift", "struct High { var low: Low }"),
        ])
        #expect(graph.cycles.isEmpty)
    }
}
