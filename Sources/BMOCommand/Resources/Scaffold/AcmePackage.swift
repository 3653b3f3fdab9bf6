// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "AcmeBridge",
    platforms: [.macOS(.v14)],
    products: [.library(name: "AcmeBridge", type: .dynamic, targets: ["AcmeBridge"])],
    dependencies: [.package(name: "bmo", path: "@KIT@")],
    targets: [
        .target(name: "AcmeBridge", dependencies: [.product(name: "BridgeKit", package: "bmo")])
    ]
)
