// swift-tools-version: 6.2
import PackageDescription

// Programs that embed bmo: one with the REST bridge linked in, one with a bridge of its own, one with a bridge that is made of bmo's
// parts. `traits: []` leaves out plugins in files and processes of their own, which none of them uses.
//
// A package of your own names bmo by its git URL, as the test does.
let bmo: Package.Dependency =
    if let url = Context.environment["BMO_URL"] {
        .package(url: url, from: "0.2.0", traits: [])
    } else {
        .package(name: "bmo", path: "../..", traits: [])
    }

let package = Package(
    name: "Embedding",
    platforms: [.macOS(.v14), .iOS(.v17)],
    dependencies: [bmo],
    targets: [
        .executableTarget(
            name: "Countries",
            dependencies: [.product(name: "BMO", package: "bmo"), .product(name: "LinkableRESTBridge", package: "bmo")]),
        .executableTarget(
            name: "Embedding",
            dependencies: [.product(name: "BMO", package: "bmo"), .product(name: "BridgeKit", package: "bmo")]),
        .executableTarget(
            name: "Pages",
            dependencies: [
                .product(name: "BMO", package: "bmo"), .product(name: "BridgeKit", package: "bmo"),
                .product(name: "BridgeHTTP", package: "bmo"), .product(name: "BridgeJSON", package: "bmo"),
                .product(name: "BridgePaging", package: "bmo"),
            ]),
    ]
)
