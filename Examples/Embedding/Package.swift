// swift-tools-version: 6.2
import PackageDescription

// Programs that embed bmo: one with the REST bridge linked in, one with a bridge of its own. In a package of your own, name
// bmo by its git URL.
let package = Package(
    name: "Embedding",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "bmo", path: "../..")],
    targets: [
        .executableTarget(
            name: "Countries",
            dependencies: [.product(name: "BMO", package: "bmo"), .product(name: "LinkableRESTBridge", package: "bmo")]),
        .executableTarget(
            name: "Embedding",
            dependencies: [.product(name: "BMO", package: "bmo"), .product(name: "BridgeKit", package: "bmo")]),
    ]
)
