import Testing

/// What can be checked here of the product BMO for Apple's platforms, where nothing of it was ever compiled.
@Suite struct DarwinTests {
    /// The sources of the product, and of the kit for bridges that are linked into a program.
    private static func sources() throws -> [SourceTree.File] {
        let manifest = Manifest(try SourceTree.text(of: "Package.swift"))
        var targets: Set<String> = []
        var next: Set<String> = ["BMO", "SQLiteStore", "BridgeKit"]
        while let target = next.popFirst() {
            guard targets.insert(target).inserted else { continue }
            next.formUnion(manifest.dependencies[target] ?? [])
        }
        #expect(targets.isSuperset(of: ["SystemCalls", "TextFormats", "BridgeHost", "Mapping", "StoreRules"]))
        return try SourceTree.files(in: "Sources").filter { $0.path.hasSuffix(".swift") && targets.contains($0.target) }
    }

    @Test func `no source of product BMO needs Glibc`() throws {
        let files = try Self.sources()
        #expect(files.count > 400)
        for file in files {
            let imports = Imports.modules(importedBy: DarwinNames.compiledLines(of: file.text).joined(separator: "\n"))
            #expect(!imports.contains("Glibc"), "\(file.path): import Darwin, Musl or Glibc, whichever there is")
            #expect(!file.text.contains("Glibc."), "\(file.path): no name of Darwin's begins with Glibc")
        }
    }

    @Test func `the sources of product BMO use only C names that Darwin has`() throws {
        let files = try Self.sources()
        let declared = files.reduce(into: Set<String>()) { names, file in
            for match in file.text.matches(of: /\b(?:func|case|struct|class|enum|typealias)\s+`?(\w+)/) {
                names.insert(String(match.1))
            }
        }
        let users = files.filter { $0.text.contains("import Darwin\n") }
        #expect(users.count > 30)
        for file in users {
            let unknown = DarwinNames.unknown(in: file.text, declared: declared)
            #expect(
                unknown.isEmpty,
                "\(file.path): \(unknown): put what Linux alone has behind #if os(Linux), and note others in DarwinNames"
            )
        }
    }

    @Test func `what Darwin compiles reads no file of Linux`() throws {
        for file in try Self.sources() {
            let lines = DarwinNames.compiledLines(of: file.text).filter { !$0.drop { $0 == " " }.hasPrefix("//") }
            #expect(!lines.contains { $0.contains("\"/proc/") || $0.contains("\"/sys/") }, "\(file.path)")
        }
    }

    @Test(arguments: [
        ("let a = epoll_create1(0)", ["epoll_create1"]), ("let a = SOCK_CLOEXEC", ["SOCK_CLOEXEC"]),
        ("#if os(Linux)\nprctl(1)\n#else\nkqueue()\n#endif", ["kqueue"]),
        ("#if !canImport(Darwin)\nprctl(1)\n#endif", []),
        ("#if canImport(Darwin)\nfoo(1)\n#else\nprctl(1)\n#endif", ["foo"]),
        ("open(path, O_RDONLY)", []), ("let text = \"memfd_create(1)\" // eventfd(1)", []),
        ("let text = \"\"\"\n    prctl(1)\n    \"\"\"", []), ("func prctl(_ option: Int) {}\nprctl(1)", []),
        ("var a: eventfd_t", ["eventfd_t"]), ("self.epoll_wait(1)", []),
    ])
    func `names of C are found where Darwin compiles them`(source: String, names: [String]) {
        #expect(DarwinNames.unknown(in: source) == names)
    }
}
