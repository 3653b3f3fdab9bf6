// swift-tools-version: 6.2
import PackageDescription

// A package of its own: the benchmark is no part of what a user builds.
let package = Package(
    name: "local-fetch-benchmark",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "bmo", path: "../.."), .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .executableTarget(
            name: "LocalFetch",
            dependencies: [
                .product(name: "BMO", package: "bmo"), .product(name: "BridgeKit", package: "bmo"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)])
    ]
)
