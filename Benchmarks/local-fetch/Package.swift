// swift-tools-version: 6.2
import PackageDescription

// A package of its own: the benchmark is no part of what a user builds.
let package = Package(
    name: "local-fetch-benchmark",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "bmo", path: "../..")],
    targets: [
        .executableTarget(
            name: "LocalFetch",
            dependencies: [.product(name: "BMO", package: "bmo"), .product(name: "BridgeKit", package: "bmo")],
            swiftSettings: [.swiftLanguageMode(.v6)])
    ]
)
