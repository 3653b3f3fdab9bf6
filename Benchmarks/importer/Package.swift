// swift-tools-version: 6.2
import PackageDescription

// A package of its own: the benchmark is no part of what a user builds.
let package = Package(
    name: "importer-benchmark",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "bmo", path: "../..")],
    targets: [
        .target(name: "Floor", linkerSettings: [.linkedLibrary("sqlite3")]),
        .executableTarget(
            name: "ImporterBenchmark", dependencies: ["Floor", .product(name: "BMO", package: "bmo")],
            swiftSettings: [.swiftLanguageMode(.v6)]),
    ],
    cxxLanguageStandard: .cxx17
)
