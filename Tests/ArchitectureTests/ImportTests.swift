import Testing

/// The arrows between the targets, in the sources and in the manifest.
@Suite struct ImportTests {
    @Test func `every source imports only what its target may see`() throws {
        let files = try SourceTree.files(in: "Sources", "Plugins").filter { $0.path.hasSuffix(".swift") }
        #expect(files.count > 100)
        let violations = files.flatMap { file in
            Imports.violations(in: file.text, of: file.target).map { "\(file.path): \($0)" }
        }
        #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }

    @Test func `the manifest declares only what a target may see`() throws {
        let manifest = Manifest(try SourceTree.text(of: "Package.swift"))
        let targets = Set(try SourceTree.files(in: "Sources", "Plugins").map(\.target))
        for target in targets.sorted() {
            let dependencies = try #require(manifest.dependencies[target], "\(target) is not in Package.swift")
            #expect(Imports.violations(of: dependencies, of: target).isEmpty)
        }
        #expect(manifest.dependencies["SQLiteStore"]?.contains("GRDB") == true, "the manifest was understood")
    }

    @Test func `the rules say what the design says`() {
        func may(_ target: String, see module: String) -> Bool {
            Imports.violations(in: "internal import \(module)\n", of: target).isEmpty
        }
        for target in Imports.rules.keys {
            #expect(may(target, see: "GRDB") == (target == "SQLiteStore"))
            #expect(may(target, see: "GRDBSQLite") == (target == "SQLiteStore"))
            #expect(may(target, see: "CCurl") == (target == "BridgeHTTP"))
            #expect(may(target, see: "CLibXML2") == (target == "BridgeXML"))
            #expect(may(target, see: "BridgeXML") == ["RowFormats", "SOAPBridge"].contains(target))
            let ofJSON = ["BridgePaging", "RESTBridge", "RESTIntrospection", "RowFormats"]
            #expect(may(target, see: "BridgeJSON") == ofJSON.contains(target))
            #expect(may(target, see: "CSMBClient") == (target == "SMBBridge"))
            #expect(may(target, see: "JSONBatch") == (target == "BridgeJSON"))
            #expect(may(target, see: "NIOCore") == (target == "WebServer"))
            #expect(may(target, see: "WebServer") == ["BMOCommand", "WebPage"].contains(target))
            #expect(!may(target, see: "FoundationNetworking") && !may(target, see: "FoundationXML"))
            let withFoundation = [
                "BMO", "BMOCommand", "BMOModels", "BMOTesting", "BridgeConformance", "BridgeKitFoundation",
            ]
            #expect(may(target, see: "Foundation") == withFoundation.contains(target))
        }
        for plugin in ["RESTBridge", "SOAPBridge", "SMBBridge"] {
            for forbidden in [
                "BridgeHost", "Importer", "SQLiteStore", "Mapping", "Model", "BMO", "BMOCommand", "RESTBridge",
                "SOAPBridge",
                "SMBBridge",
            ] { #expect(!may(plugin, see: forbidden), "\(plugin) and \(forbidden)") }
        }
        #expect(!may("BridgeHost", see: "Importer") && !may("Importer", see: "BridgeHost"))
        #expect(!may("Importer", see: "SQLiteStore") && !may("BridgeHost", see: "SQLiteStore"))
        #expect(may("RecordBatch", see: "CBridge") && !may("RecordBatch", see: "Model"))
        #expect(may("Model", see: "Yams") && !may("Model", see: "RecordBatch"))
        #expect(may("BMO", see: "BridgeHost") && may("BMO", see: "Importer"))
    }

    @Test func `no type of a C library is in a public signature`() throws {
        // The compiler refuses a public declaration with a type of a module that is not imported publicly.
        let publicly = /public import (?:\w+ )?(C[A-Z]\w*)/
        for file in try SourceTree.files(in: "Sources", "Plugins") where file.path.hasSuffix(".swift") {
            let modules = file.text.matches(of: publicly).map { String($0.1) }.filter { $0 != "CBridge" }
            #expect(modules.isEmpty, "\(file.path) shows \(modules)")
        }
    }

    @Test func `a wrong import is found`() {
        let source = """
            // import Nothing
            @testable import Importer
            public import struct GRDB.Row
                @preconcurrency internal import CCurl
            internal import RecordBatch
            import Glibc; let imported = 1
            let text = "import"
            """
        #expect(Imports.modules(importedBy: source) == ["Importer", "GRDB", "CCurl", "RecordBatch", "Glibc"])
        #expect(
            Imports.violations(in: source, of: "BridgeHost") == [
                "BridgeHost imports Importer", "BridgeHost imports GRDB", "BridgeHost imports CCurl",
            ])
        #expect(Imports.violations(in: source, of: "Newcomer").count == 1)
    }

    @Test func `a wrong dependency is found`() {
        let manifest = Manifest(
            """
            func bridge(_ name: String, transport: [Target.Dependency]) -> Target {
                .target(name: name, dependencies: ["BridgeKit"] + transport, path: "Plugins/\\(name)")
            }
            let package = Package(targets: [
                .target(name: "Importer", dependencies: [
                    "Model", .product(name: "GRDB", package: "GRDB.swift"), "Mapping",
                ], path: "x"),
                bridge("RESTBridge", transport: ["BridgeHost"]),
                .target(name: "CBridge"),
            ])
            """)
        #expect(manifest.dependencies["Importer"] == ["Model", "GRDB", "Mapping"])
        #expect(manifest.dependencies["CBridge"] == [])
        #expect(
            Imports.violations(of: manifest.dependencies["Importer"] ?? [], of: "Importer")
                == ["Importer depends on GRDB"])
        #expect(
            Imports.violations(of: manifest.dependencies["RESTBridge"] ?? [], of: "RESTBridge")
                == ["RESTBridge depends on BridgeHost"])
    }
}
