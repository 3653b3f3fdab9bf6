// swift-tools-version: 6.2
import PackageDescription

// A stranger's package with two bridges. GitBridge sees the public kit and nothing else of bmo; ForgeBridge is made of the parts
// that bmo's own bridges are made of. In a package of your own, name bmo by its git URL.
let package = Package(
    name: "GitBridge",
    platforms: [.macOS(.v14)],
    products: [
        .library(name: "GitBridge", type: .dynamic, targets: ["GitBridge"]),
        .library(name: "ForgeBridge", type: .dynamic, targets: ["ForgeBridge"]),
    ],
    dependencies: [.package(name: "bmo", path: "../..")],
    targets: [
        .systemLibrary(name: "CLibGit2", pkgConfig: "libgit2", providers: [.apt(["libgit2-dev"])]),
        .target(name: "GitBridge", dependencies: ["CLibGit2", .product(name: "BridgeKit", package: "bmo")]),
        .target(
            name: "ForgeBridge",
            dependencies: [
                .product(name: "BridgeKit", package: "bmo"), .product(name: "BridgeHTTP", package: "bmo"),
                .product(name: "BridgeJSON", package: "bmo"), .product(name: "BridgePaging", package: "bmo"),
            ]),
    ]
)
