import Testing

/// The name of a type means one thing in the package.
@Suite struct TypeNameTests {
    /// Types that several stores have, each in its own way, and the page's counterpart of one.
    private static let counterparts: Set<String> = [
        "ChangeWatcher", "SchemaChange", "SchemaMigration",
    ]

    @Test func `a type's name means one thing`() throws {
        var places: [String: [String]] = [:]
        for file in try SourceTree.files(in: "Sources", "Plugins") where file.path.hasSuffix(".swift") {
            for name in FolderGraph.types(declaredIn: file.text) { places[name, default: []].append(file.path) }
        }
        #expect(places.count > 1000)
        for (name, paths) in places.sorted(by: { $0.key < $1.key }) where !Self.counterparts.contains(name) {
            #expect(paths.count == 1, "\(name) is declared in \(paths.joined(separator: " and "))")
        }
    }

    @Test(arguments: [
        ("public struct One {}", ["One"]), ("@frozen\nenum Two {}", ["Two"]), ("private class Three {}", []),
        ("extension Four { struct Five {} }", []),
    ])
    func `types of the top level count`(source: String, names: [String]) {
        #expect(FolderGraph.types(declaredIn: source) == Set(names))
    }
}
