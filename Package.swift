// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target is held to the same rules; they are set once, at the end of this file.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

func bridge(_ name: String, transport: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: ["BridgeKit", "CBridge", "RecordBatch"] + transport, path: "Plugins/\(name)")
}

let package = Package(
    name: "bmo",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "bmo", targets: ["bmo"]),
        .library(name: "BMO", targets: ["BMO"]),
        .library(name: "BridgeKit", targets: ["BridgeKit", "RecordBatch", "CBridge"]),
        .library(name: "BridgeConformance", targets: ["BridgeConformance"]),
        .library(name: "RESTBridge", type: .dynamic, targets: ["RESTBridge"]),
        .library(name: "SOAPBridge", type: .dynamic, targets: ["SOAPBridge"]),
        .library(name: "SMBBridge", type: .dynamic, targets: ["SMBBridge"]),
        .library(name: "SingerBridge", type: .dynamic, targets: ["SingerBridge"]),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        // The contract and what both sides of it share.
        .target(name: "CBridge"),
        .target(name: "RecordBatch", dependencies: ["CBridge"]),

        // The bridge author's side.
        .target(name: "BridgeKit", dependencies: ["CBridge", "RecordBatch"]),
        .target(name: "BridgeHTTP", dependencies: ["BridgeKit", "RecordBatch", "CCurl", "CLibCrypto"]),
        // What several plugins read their formats with.
        .target(name: "BridgeJSON", dependencies: ["BridgeKit", "CSimdJSON"]),
        .target(name: "BridgeXML", dependencies: ["BridgeKit", "CLibXML2"]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(name: "CSimdJSON", dependencies: ["CBridge"], linkerSettings: [.linkedLibrary("simdjson")]),
        .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .systemLibrary(name: "CSMBClient", pkgConfig: "smbclient", providers: [.apt(["libsmbclient-dev"])]),
        .systemLibrary(name: "CLibCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CCSV", providers: [.apt(["libcsv-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CZip", pkgConfig: "libzip", providers: [.apt(["libzip-dev"])]),
        bridge("RESTBridge", transport: ["BridgeHTTP", "BridgeJSON", "CSimdJSON"]),
        bridge("SOAPBridge", transport: ["BridgeHTTP", "BridgeXML"]),
        bridge(
            "SMBBridge",
            transport: ["BridgeJSON", "BridgeXML", "CSMBClient", "CCSV", "CSimdJSON", "CLibCrypto", "CZlib", "CZip"]),

        bridge("SingerBridge", transport: []),

        // The host's side.
        // What a bridge's process does before the plugin is loaded, and Swift cannot: nothing of it may run in a signal handler.
        .systemLibrary(name: "CBridgeProcess"),
        .target(
            name: "BridgeHost",
            dependencies: [
                "CBridge", "CBridgeProcess", "CLibCrypto", "RecordBatch",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(name: "Model", dependencies: ["Yams"]),
        .systemLibrary(name: "CTime"),
        .target(name: "Mapping", dependencies: ["Model", "RecordBatch", "CTime"]),
        .target(name: "Importer", dependencies: ["Model", "Mapping", "RecordBatch"]),
        .target(
            name: "SQLiteStore",
            dependencies: [
                "Model", "Mapping", "Importer", "RecordBatch",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        .target(
            name: "BMO",
            dependencies: [
                "Model", "Mapping", "Importer", "SQLiteStore", "BridgeHost", "RecordBatch",
                .product(name: "Logging", package: "swift-log"),
            ], exclude: ["Objects/README.md", "Requests/README.md"]),
        .target(
            name: "BridgeConformance",
            dependencies: [
                "BMO", "BridgeHost", "Importer", "Mapping", "Model", "RecordBatch", "SQLiteStore", "Yams",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "BMOCommand",
            dependencies: [
                "BMO", "BridgeConformance", "BridgeHost", "Importer", "Mapping", "Model", "RecordBatch", "SQLiteStore",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .executableTarget(name: "bmo", dependencies: ["BMOCommand"]),

        // A bridge in plain C: the contract needs no Swift.
        .target(name: "CountingBridge", dependencies: ["CBridge"], path: "Tests/CountingBridge"),

        .target(
            name: "TestSupport", dependencies: ["RecordBatch", .product(name: "Logging", package: "swift-log")],
            path: "Tests/TestSupport"),
        .testTarget(name: "RecordBatchTests", dependencies: ["RecordBatch", "CBridge", "TestSupport"]),
        .testTarget(name: "BridgeKitTests", dependencies: ["BridgeKit", "RecordBatch", "CBridge"]),
        .testTarget(name: "BridgeHTTPTests", dependencies: ["BridgeHTTP", "BridgeKit", "TestSupport"]),
        .testTarget(
            name: "RESTBridgeTests", dependencies: ["RESTBridge", "BridgeKit", "RecordBatch", "TestSupport"]),
        .testTarget(name: "SOAPBridgeTests", dependencies: ["SOAPBridge", "BridgeKit", "RecordBatch", "TestSupport"]),
        .testTarget(
            name: "SMBBridgeTests",
            dependencies: ["SMBBridge", "BridgeKit", "CSMBClient", "RecordBatch", "TestSupport"]),
        // The executable that the host's tests start to serve a bridge, as `bmo` does with itself.
        .executableTarget(name: "TestHost", dependencies: ["BridgeHost"], path: "Tests/TestHost"),
        // CountingBridge is compiled by these tests: two bridges in one test binary would export the same symbols.
        .testTarget(
            name: "BridgeHostTests",
            dependencies: [
                "BridgeHost", "TestHost", "CBridge", "RecordBatch", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "BridgeConformanceTests",
            dependencies: ["BridgeConformance", "BridgeHost", "TestHost", "TestSupport"]),
        // Replays Fixtures/cases with the built command.
        .testTarget(
            name: "FixtureTests", dependencies: ["BridgeConformance", "BridgeHost", "BridgeKit", "TestSupport", "bmo"]),
        .testTarget(name: "ModelTests", dependencies: ["Model", "TestSupport"]),
        // Models and records as literals, and a database as another program sees it.
        .target(
            name: "ImportTestSupport",
            dependencies: [
                "Importer", "Mapping", "Model", "RecordBatch",
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ], path: "Tests/ImportTestSupport"),
        .testTarget(name: "MappingTests", dependencies: ["ImportTestSupport", "Mapping", "Model", "RecordBatch"]),
        .testTarget(
            name: "ImporterTests",
            dependencies: [
                "ImportTestSupport", "Importer", "Mapping", "Model", "RecordBatch", "SQLiteStore", "TestSupport",
            ]),
        // A disk and a memory that fail on request, and the executable that imports over them.
        .target(
            name: "FaultySQLite", path: "Tests/FaultySQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
        .executableTarget(
            name: "FaultHost",
            dependencies: [
                "FaultySQLite", "ImportTestSupport", "Importer", "Mapping", "Model", "RecordBatch", "SQLiteStore",
            ], path: "Tests/FaultHost"),
        .testTarget(
            name: "SQLiteStoreTests",
            dependencies: [
                "FaultHost", "ImportTestSupport", "SQLiteStore", "Importer", "Mapping", "Model", "RecordBatch",
                "TestSupport",
            ]),
        .testTarget(
            name: "BMOTests",
            dependencies: [
                "BMO", "BridgeHost", "BridgeKit", "ImportTestSupport", "Importer", "Mapping", "Model", "RESTBridge",
                "RecordBatch", "SQLiteStore", "TestHost", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ]),
        // Which target may import what, checked over the sources.
        .testTarget(name: "ArchitectureTests", dependencies: ["TestSupport"]),
        .testTarget(name: "EndToEndTests", dependencies: ["ImportTestSupport", "TestSupport", "bmo"]),
    ],
    cxxLanguageStandard: .cxx17
)

for target in package.targets where ![.system, .binary, .plugin].contains(target.type) {
    target.swiftSettings = settings
}

// SwiftPM links all tests into one binary, where the entry points of the plugins meet: all have the names of the
// contract. No test calls them by name.
for target in package.targets where target.type == .test {
    target.linkerSettings = [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "muldefs"], .when(platforms: [.linux]))]
}
