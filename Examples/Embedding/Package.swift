// swift-tools-version: 6.2
import PackageDescription

// A program that embeds bmo, with a bridge of its own linked in. In a package of your own, name bmo by its git URL.
let package = Package(
    name: "Embedding",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "bmo", path: "../..")],
    targets: [
        .executableTarget(
            name: "Embedding",
            dependencies: [.product(name: "BMO", package: "bmo"), .product(name: "BridgeKit", package: "bmo")])
    ]
)
