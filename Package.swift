// swift-tools-version: 6.2
import PackageDescription

/// The settings of every Swift target, applied at the end of this file.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

func bridge(_ name: String, transport: [Target.Dependency]) -> Target {
    .target(
        name: name, dependencies: ["BridgeKit", "CBridge", "RecordBatch", "SystemCalls", "TextFormats"] + transport,
        path: "Plugins/\(name)")
}

/// The plugin module of a bridge that programs can also link.
///
/// It contains the contract's two symbols, which would clash between bridges linked into one program.
func plugin(_ name: String, of bridge: String) -> Target {
    .target(name: name, dependencies: ["BridgeKit", "CBridge"] + [.byName(name: bridge)], path: "Plugins/\(name)")
}

let package = Package(
    name: "bmo",
    // docs/decisions/0052.
    platforms: [.macOS(.v14), .iOS(.v17)],
    products: [
        .executable(name: "bmo", targets: ["bmo"]),
        // The library, with the store that the program passes to it.
        .library(name: "BMO", targets: ["BMO", "SQLiteStore"]),
        // Generates Swift types from a target's bmo.yml.
        .plugin(name: "BMOModels", targets: ["BMOModels"]),
        // An in-memory store, a scripted remote and a clock, for the tests of programs that embed BMO.
        .library(name: "BMOTesting", targets: ["BMOTesting"]),
        .library(name: "BridgeKit", targets: ["BridgeKit", "RecordBatch", "CBridge"]),
        .library(name: "BridgeKitFoundation", targets: ["BridgeKitFoundation"]),
        // Parts of the bridges that come with bmo, for others: HTTP with authentication and path templates, JSON and XML
        // as streams, paging.
        .library(name: "BridgeHTTP", targets: ["BridgeHTTP"]),
        .library(name: "BridgeJSON", targets: ["BridgeJSON"]),
        .library(name: "BridgeXML", targets: ["BridgeXML"]),
        .library(name: "BridgePaging", targets: ["BridgePaging"]),
        .library(name: "BridgeConformance", targets: ["BridgeConformance"]),
        // The kit that proves a store, with the protocols that a store implements.
        .library(name: "StoreConformance", targets: ["StoreConformance", "StoreContract", "Mapping", "Model"]),
        .library(name: "MemoryStore", targets: ["MemoryStore"]),
        .library(name: "PostgreSQLStore", targets: ["PostgreSQLStore"]),
        // Bridges to link into a program: `bridges: [BridgeExport(RESTBridge.self)]`. The others need separate
        // processes.
        .library(name: "LinkableRESTBridge", targets: ["RESTBridge"]),
        .library(name: "LinkableSOAPBridge", targets: ["SOAPBridge"]),
        // Bridges as plugins for `bmo`.
        .library(name: "RESTBridge", type: .dynamic, targets: ["RESTPlugin"]),
        .library(name: "SOAPBridge", type: .dynamic, targets: ["SOAPPlugin"]),
        .library(name: "SMBBridge", type: .dynamic, targets: ["SMBBridge"]),
        .library(name: "SingerBridge", type: .dynamic, targets: ["SingerBridge"]),
    ],
    // Without it, a program uses the bridges that are linked into it: no dlopen, no child processes, no /proc.
    traits: [
        .default(enabledTraits: ["Plugins"]),
        .trait(name: "Plugins", description: "Bridges as library files and in child processes, on Linux"),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        // What a program that embeds the library measures and traces with: docs/decisions/0045.
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        // Only the page of `bmo serve` and the sending of metrics use it: docs/decisions/0039.
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    ],
    targets: [
        // The contract, and the code that both sides of it share.
        .target(name: "CBridge"),
        // One of each: JSON strings, base64, times, digests, edit distance, secrets and their names.
        .target(name: "TextFormats", dependencies: ["SystemCalls"], exclude: ["README.md"]),
        // One of each: threads, monitors, mutexes, the monotonic clock, bounded reading, atomic writing, spawn.
        .target(name: "SystemCalls", dependencies: ["CAtomicWord"], exclude: ["README.md"]),
        .systemLibrary(name: "CAtomicWord"),
        // SHA-1 and SHA-256, by libcrypto.
        .target(name: "Digests", dependencies: ["CLibCrypto", "TextFormats"], exclude: ["README.md"]),
        .target(name: "RecordBatch", dependencies: ["CBridge", "TextFormats"]),

        // The messages of the contract.
        .target(name: "BridgeContract", dependencies: ["RecordBatch", "TextFormats"], exclude: ["README.md"]),

        // The bridge author's side.
        .target(
            name: "BridgeRecording", dependencies: ["BridgeContract", "RecordBatch", "SystemCalls", "TextFormats"],
            exclude: ["README.md"]),
        .target(
            name: "BridgeKit",
            dependencies: ["BridgeContract", "BridgeRecording", "CBridge", "RecordBatch", "SystemCalls", "TextFormats"]),
        .target(name: "BridgeKitFoundation", dependencies: ["BridgeKit", "RecordBatch"]),
        .target(
            name: "BridgeHTTP",
            dependencies: [
                "BridgeKit", "RecordBatch", "SystemCalls", "TextFormats", "CCurl", "CLibCrypto", "CZlib",
            ]),
        // Parsers that several plugins share. JSONBatch is the parser in C++ that BridgeJSON wraps.
        .target(name: "BridgeJSON", dependencies: ["BridgeKit", "JSONBatch", "RecordBatch", "TextFormats"]),
        .target(name: "JSONBatch", dependencies: ["CBridge"], linkerSettings: [.linkedLibrary("simdjson")]),
        .target(name: "BridgeXML", dependencies: ["BridgeKit", "CLibXML2"]),
        // How remotes name their pages, and what each page says about the next one; no I/O.
        .target(
            name: "BridgePaging", dependencies: ["BridgeJSON", "BridgeKit", "SystemCalls", "TextFormats"],
            exclude: ["README.md"]),
        .target(
            name: "RowFormats",
            dependencies: [
                "BridgeJSON", "BridgeKit", "BridgeXML", "RecordBatch", "TextFormats", "CCSV", "CZip", "CZlib",
            ],
            exclude: ["README.md"]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .systemLibrary(name: "CSMBClient", pkgConfig: "smbclient", providers: [.apt(["libsmbclient-dev"])]),
        .systemLibrary(name: "CLibCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CCSV", providers: [.apt(["libcsv-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CZip", pkgConfig: "libzip", providers: [.apt(["libzip-dev"])]),
        // Guesses from names and samples.
        .target(name: "Inference", dependencies: ["RecordBatch"], exclude: ["README.md"]),
        // What the REST bridge's discover makes of documents and samples; scans do without it.
        .target(
            name: "RESTIntrospection",
            dependencies: ["BridgeContract", "BridgeHTTP", "BridgeJSON", "Inference", "TextFormats"],
            path: "Plugins/RESTIntrospection", exclude: ["README.md"]),
        bridge(
            "RESTBridge",
            transport: ["BridgeHTTP", "BridgeJSON", "BridgePaging", "Inference", "RESTIntrospection", "RowFormats"]),
        bridge("SOAPBridge", transport: ["BridgeHTTP", "BridgeXML", "Digests", "Inference"]),
        plugin("RESTPlugin", of: "RESTBridge"),
        plugin("SOAPPlugin", of: "SOAPBridge"),
        bridge("SMBBridge", transport: ["Digests", "Inference", "RowFormats", "CSMBClient"]),

        bridge("SingerBridge", transport: []),

        // The host's side.
        // The setup of a bridge's process before it loads the plugin. It is in C because Swift code must not run in a
        // signal handler.
        .systemLibrary(name: "CBridgeProcess"),
        .target(name: "CBridgeGuard"),
        .target(
            name: "BridgeHost",
            dependencies: [
                "BridgeContract", "CBridge", "CBridgeGuard", "CBridgeProcess", "Digests", "RecordBatch",
                "SystemCalls", "TextFormats", .product(name: "Logging", package: "swift-log"),
            ]),
        .target(name: "Model", dependencies: ["SystemCalls", "TextFormats", "Yams"], exclude: ["README.md"]),
        // Writes Swift types for the entities of a configuration.
        .target(name: "SwiftModels", dependencies: ["Model"], exclude: ["README.md"]),
        // A program of its own, so that the build plugin does not have to build bmo.
        .executableTarget(name: "bmo-models", dependencies: ["Model", "SwiftModels", "SystemCalls"]),
        .plugin(name: "BMOModels", capability: .buildTool(), dependencies: ["bmo-models"]),
        // Translates Airbyte's declarative connectors into configurations; no network, no files.
        .target(
            name: "AirbyteManifest", dependencies: ["Model", "TextFormats", "Yams"], exclude: ["README.md"]),
        .systemLibrary(name: "CTime"),
        .target(name: "Mapping", dependencies: ["Model", "RecordBatch", "TextFormats", "CTime"]),
        .target(
            name: "StoreContract", dependencies: ["Model", "Mapping", "RecordBatch", "SystemCalls", "TextFormats"],
            exclude: ["README.md"]),
        .target(
            name: "StoreRules",
            dependencies: ["Model", "Mapping", "RecordBatch", "StoreContract", "SystemCalls", "TextFormats"],
            exclude: ["README.md"]),
        .target(
            name: "MemoryStore",
            dependencies: [
                "Model", "Mapping", "RecordBatch", "StoreContract", "StoreRules", "SystemCalls", "TextFormats",
            ],
            exclude: ["README.md"]),
        .target(
            name: "StoreConformance", dependencies: ["Model", "Mapping", "StoreContract", "SystemCalls"],
            exclude: ["README.md"]),
        .target(name: "Importer", dependencies: ["Model", "Mapping", "RecordBatch", "StoreContract"]),
        .target(
            name: "SQLiteStore",
            dependencies: [
                "Model", "Mapping", "StoreContract", "StoreRules", "RecordBatch", "SystemCalls", "TextFormats",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ], exclude: ["README.md"]),
        // libpq's headers alone: the library is loaded when a database of PostgreSQL is opened.
        .target(name: "CPQ"),
        .target(
            name: "PostgreSQLStore",
            dependencies: [
                "CPQ", "Model", "Mapping", "RecordBatch", "StoreContract", "StoreRules", "SystemCalls", "TextFormats",
            ], exclude: ["README.md"]),
        .target(
            name: "BMO",
            dependencies: [
                "BridgeContract", "Model", "Mapping", "Importer", "StoreContract", "BridgeHost", "RecordBatch",
                "SystemCalls", "TextFormats",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ], exclude: ["Objects/README.md", "Requests/README.md"]),
        .target(
            name: "BMOTesting",
            dependencies: [
                "BMO", "BridgeHost", "BridgeKit", "MemoryStore", "Model", "RecordBatch", "StoreContract", "SystemCalls",
                .product(name: "Logging", package: "swift-log"),
            ], exclude: ["README.md"]),
        .target(
            name: "BridgeConformance",
            dependencies: [
                "BMO", "BridgeHost", "Importer", "Mapping", "Model", "RecordBatch", "StoreContract", "SystemCalls",
                "TextFormats", "Yams",
                .product(name: "Logging", package: "swift-log"),
            ]),
        // The page: an HTTP server that knows nothing of bmo, and the pages and actions, which know no server library.
        .target(
            name: "WebServer",
            dependencies: [
                "SystemCalls", "TextFormats", .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .target(
            name: "WebPage",
            dependencies: [
                "BMO", "BridgeHost", "Digests", "Importer", "Mapping", "Model", "RecordBatch", "StoreContract",
                "SystemCalls",
                "TextFormats", "WebServer",
            ], exclude: ["README.md"]),
        .target(
            name: "BMOCommand",
            dependencies: [
                "AirbyteManifest", "BMO", "CZip", "BridgeConformance", "BridgeHost", "Importer", "Mapping", "Model",
                "RecordBatch", "StoreContract", "SwiftModels", "SystemCalls", "TextFormats", "WebPage", "WebServer",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            // The program carries them, so that it is a single file.
            resources: [.embedInCode("Resources")]),
        // Chooses the kind of database, and is otherwise empty.
        .executableTarget(
            name: "bmo", dependencies: ["BMOCommand", "Mapping", "PostgreSQLStore", "SQLiteStore", "StoreContract"]),

        // A bridge in plain C: the contract needs no Swift.
        .target(name: "CountingBridge", dependencies: ["CBridge"], path: "Tests/CountingBridge"),

        // Records and options as literals, and checks, without Foundation.
        .target(
            name: "TestLiterals", dependencies: ["BridgeContract", "RecordBatch"], path: "Tests/TestLiterals"),
        .target(
            name: "TestSupport",
            dependencies: ["RecordBatch", "TestLiterals", .product(name: "Logging", package: "swift-log")],
            path: "Tests/TestSupport"),
        .testTarget(name: "TextFormatsTests", dependencies: ["TextFormats"]),
        .testTarget(name: "SystemCallsTests", dependencies: ["SystemCalls", "TestSupport"]),
        .testTarget(name: "RecordBatchTests", dependencies: ["RecordBatch", "TextFormats", "CBridge", "TestSupport"]),
        .testTarget(
            name: "BridgeKitTests", dependencies: ["BridgeKit", "BridgeKitFoundation", "RecordBatch", "CBridge"]),
        .testTarget(name: "BridgeHTTPTests", dependencies: ["BridgeHTTP", "BridgeKit", "TestSupport"]),
        .testTarget(
            name: "RESTBridgeTests",
            dependencies: [
                "RESTBridge", "BridgeHTTP", "BridgeJSON", "BridgeKit", "BridgePaging", "RecordBatch", "TestSupport",
            ]),
        .testTarget(
            name: "SOAPBridgeTests",
            dependencies: ["SOAPBridge", "BridgeKit", "Digests", "RecordBatch", "TestSupport"]),
        .testTarget(
            name: "SMBBridgeTests",
            dependencies: [
                "SMBBridge", "BridgeKit", "CSMBClient", "Inference", "RecordBatch", "RowFormats", "SystemCalls",
                "TextFormats", "TestLiterals",
            ]),
        // The executable that the host's tests start to serve a bridge, as `bmo` starts itself.
        .executableTarget(
            name: "TestHost", dependencies: ["BridgeHost", .product(name: "Logging", package: "swift-log")],
            path: "Tests/TestHost"),
        // Bridges in C that tests compile, and a host for one of them.
        .target(
            name: "BridgeTestSupport", dependencies: ["BridgeHost", "TestHost", "TestSupport"],
            path: "Tests/BridgeTestSupport"),
        // These tests compile CountingBridge: two bridges in one test binary would export the same symbols.
        .testTarget(
            name: "BridgeHostTests",
            dependencies: [
                "BridgeHost", "BridgeTestSupport", "CBridge", "RecordBatch", "SystemCalls", "TextFormats",
                "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "BridgeConformanceTests",
            dependencies: ["BridgeConformance", "BridgeHost", "BridgeTestSupport", "SQLiteStore", "TestSupport"]),
        // Replays Fixtures/cases with the built command.
        .testTarget(
            name: "FixtureTests",
            dependencies: [
                "BridgeConformance", "BridgeHost", "BridgeKit", "BridgeRecording", "SQLiteStore", "TestSupport", "bmo",
            ]),
        .testTarget(name: "AirbyteManifestTests", dependencies: ["AirbyteManifest", "Model", "TestLiterals"]),
        .testTarget(name: "ModelTests", dependencies: ["Model", "TestSupport"]),
        // Models and records as literals, and a reader of the database as another program sees it.
        .target(
            name: "ImportTestSupport",
            dependencies: [
                "Importer", "Mapping", "Model", "RecordBatch", "StoreContract", "TestLiterals",
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ], path: "Tests/ImportTestSupport"),
        // The stores that suites run over, and what is in them.
        .target(
            name: "StoreTestSupport",
            dependencies: [
                "ImportTestSupport", "Importer", "Mapping", "MemoryStore", "Model", "PostgreSQLStore", "SQLiteStore",
                "StoreContract", "TestSupport",
            ], path: "Tests/StoreTestSupport"),
        .testTarget(
            name: "MappingTests", dependencies: ["ImportTestSupport", "Mapping", "Model", "RecordBatch", "TestSupport"]),
        .testTarget(
            name: "StoreConformanceTests",
            dependencies: [
                "Mapping", "Model", "StoreConformance", "StoreContract", "StoreTestSupport", "TestSupport",
            ]),
        .testTarget(
            name: "StoreContractTests", dependencies: ["ImportTestSupport", "Mapping", "Model", "StoreContract"]),
        .testTarget(
            name: "ImporterTests",
            dependencies: [
                "ImportTestSupport", "Importer", "Mapping", "Model", "RecordBatch", "StoreContract", "StoreTestSupport",
                "TestSupport", "TextFormats",
            ]),
        // A disk and an allocator that fail on request, and the executable that imports with them.
        .target(
            name: "FaultySQLite", path: "Tests/FaultySQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
        .executableTarget(
            name: "FaultHost",
            dependencies: [
                "FaultySQLite", "ImportTestSupport", "Importer", "Mapping", "Model", "RecordBatch", "SQLiteStore",
                "StoreContract", "TestLiterals",
            ], path: "Tests/FaultHost"),
        .testTarget(
            name: "SQLiteStoreTests",
            dependencies: [
                "FaultHost", "ImportTestSupport", "SQLiteStore", "StoreContract", "StoreRules", "StoreTestSupport",
                "Importer", "Mapping", "Model", "RecordBatch", "TestSupport",
            ]),
        .testTarget(
            name: "PostgreSQLStoreTests",
            dependencies: [
                "ImportTestSupport", "Importer", "Mapping", "Model", "PostgreSQLStore", "RecordBatch", "StoreContract",
                "StoreTestSupport", "TestSupport",
            ]),
        // A program that embeds the library, for tests in a network of its own.
        .executableTarget(
            name: "NetworkProgram",
            dependencies: [
                "BMO", "BridgeHost", "BridgeKit", "MemoryStore", "RESTBridge",
                .product(name: "Logging", package: "swift-log"),
            ], path: "Tests/NetworkProgram"),
        .testTarget(
            name: "BMOTests",
            dependencies: [
                "BMO", "BMOTesting", "BridgeHost", "BridgeKit", "ImportTestSupport", "Importer", "Mapping", "Model",
                "NetworkProgram", "RESTBridge", "BridgeTestSupport", "RecordBatch", "SQLiteStore", "StoreContract",
                "StoreTestSupport", "SystemCalls", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        // Models.swift is what SwiftModels makes of models.yml; a test compares them.
        .testTarget(
            name: "SwiftModelsTests",
            dependencies: [
                "BMO", "BMOTesting", "ImportTestSupport", "Model", "SQLiteStore", "StoreContract", "SwiftModels",
                "TestSupport",
            ],
            exclude: ["models.yml"]),
        .testTarget(
            name: "BMOTestingTests",
            dependencies: [
                "BMO", "BMOTesting", "BridgeContract", "RESTBridge", "BridgeKit", "SQLiteStore", "TestSupport",
            ]),
        .testTarget(
            name: "WebPageTests",
            dependencies: [
                "BMO", "BridgeHost", "BridgeKit", "Digests", "ImportTestSupport", "Mapping", "MemoryStore", "Model",
                "RESTBridge", "SQLiteStore", "StoreContract", "TestSupport", "TextFormats", "WebPage", "WebServer",
                .product(name: "Logging", package: "swift-log"),
            ]),
        // Checks which targets may import which modules.
        .testTarget(name: "ArchitectureTests", dependencies: ["TestSupport"]),
        // Compares the documentation with the help of the built command.
        .testTarget(name: "DocumentationTests", dependencies: ["TestSupport", "bmo"]),
        .testTarget(name: "EndToEndTests", dependencies: ["ImportTestSupport", "TestSupport", "bmo"]),
        // Replays the findings of Scripts/fuzz through the readers of several bridges.
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "BridgeHTTP", "BridgeKit", "Model", "RESTBridge", "RecordBatch", "SMBBridge", "SOAPBridge",
                "TestSupport",
            ]),
        // Servers that attack the built command, with limits on time and memory for each.
        .testTarget(
            name: "HostileTests", dependencies: ["TestSupport", "bmo"], exclude: ["measure.py", "wire.py"]),
    ],
    cxxLanguageStandard: .cxx17
)

for target in package.targets where ![.system, .binary, .plugin].contains(target.type) {
    target.swiftSettings = settings
}
package.targets.first { $0.name == "BridgeHost" }?.swiftSettings?.append(
    .define("PLUGINS", .when(platforms: [.linux], traits: ["Plugins"])))

// BMO_TEST_SUITES=release limits `swift build -c release --build-tests` to suites without @testable imports. They link the
// same objects that users run; -enable-testing would compile everything again, with other code. BMO_TEST_SUITES=debug
// leaves these out, for a debug build beside that release build.
let releaseSuites = ["ImporterTests", "MappingTests", "SQLiteStoreTests", "StoreConformanceTests"]
switch Context.environment["BMO_TEST_SUITES"] {
case "release": package.targets.removeAll { $0.type == .test && !releaseSuites.contains($0.name) }
case "debug": package.targets.removeAll { $0.type == .test && releaseSuites.contains($0.name) }
default: break
}

// BMO_FUZZ=1 replaces the tests with the libFuzzer executable that Scripts/fuzz runs.
if Context.environment["BMO_FUZZ"] == "1" {
    package.targets.removeAll { $0.type == .test }
    package.targets.append(
        .executableTarget(
            name: "ReaderFuzzer",
            dependencies: [
                "BridgeHTTP", "BridgeKit", "Model", "RESTBridge", "RecordBatch", "SMBBridge", "SOAPBridge",
            ], path: "Tests", sources: ["Fuzz/main.swift", "FuzzTests/FuzzedReader.swift"],
            swiftSettings: settings, linkerSettings: [.linkedLibrary("stdc++"), .unsafeFlags(["-use-ld=lld"])]))
}

// SwiftPM links all tests into one binary, in which all plugins define the contract's entry points. No test calls these
// by name.
for target in package.targets where target.type == .test {
    target.linkerSettings = [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "muldefs"], .when(platforms: [.linux]))]
}
