// swift-tools-version: 6.2
import PackageDescription

// A stranger's package: it sees the public kit and nothing else of bmo. In a package of your own, name bmo by its git URL.
let package = Package(
    name: "GitBridge",
    platforms: [.macOS(.v15)],
    products: [.library(name: "GitBridge", type: .dynamic, targets: ["GitBridge"])],
    dependencies: [.package(name: "bmo", path: "../..")],
    targets: [
        .systemLibrary(name: "CLibGit2", pkgConfig: "libgit2", providers: [.apt(["libgit2-dev"])]),
        .target(name: "GitBridge", dependencies: ["CLibGit2", .product(name: "BridgeKit", package: "bmo")]),
    ]
)
