import Testing

/// Two harnesses set up what tests drive; Tests/README.md lists them, and what else has the name of one.
@Suite struct HarnessTests {
    private static let suffixes = [
        "Workspace", "Harness", "Fixture", "Case", "Host", "Sandbox", "Context", "Place", "Server", "Servers",
    ]

    /// Returns the types of a file's top level that are named like a harness.
    private static func harnesses(in text: String) -> [String] {
        let declaration =
            /^(?:(?:package|public|private|fileprivate|final) )*(?:struct|class|enum|actor|protocol) (\w+)/
        return text.split(separator: "\n").compactMap { $0.firstMatch(of: declaration).map { String($0.1) } }
            .filter { name in suffixes.contains { name.hasSuffix($0) } }
    }

    @Test func `each harness is listed with its reason`() throws {
        let files = try SourceTree.files(in: "Tests").filter { $0.path.hasSuffix(".swift") }
        #expect(files.count > 300)
        let found = files.flatMap { file in Self.harnesses(in: file.text).map { (name: $0, path: file.path) } }
        let rows = try SourceTree.text(of: "Tests/README.md").split(separator: "## Harnesses").last?
            .matches(of: /\n\| `(\w+)` \| [^|\n]+ \|/).map { String($0.1) }
        let listed = try #require(rows)
        for (name, path) in found {
            #expect(
                listed.contains(name),
                "\(name) in \(path): extend RemoteWorkspace or LibraryWorkspace, or give a reason in Tests/README.md")
        }
        #expect(Set(listed).subtracting(found.map(\.name)).isEmpty, "the table lists types that are gone")
        #expect(Set(found.map(\.name)).count == found.count, "two types share a name: \(found.map(\.name).sorted())")
    }

    @Test(arguments: [
        ("final class ShareWorkspace: TestWorkspace {", ["ShareWorkspace"]), ("package struct OneHost {}", ["OneHost"]),
        ("    struct Case: Sendable {", []), ("extension RemoteWorkspace {", []), ("struct Hostile {", []),
    ])
    func `types of the top level count by their names`(source: String, names: [String]) {
        #expect(Self.harnesses(in: source) == names)
    }
}
