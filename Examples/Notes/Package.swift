// swift-tools-version: 6.2
import PackageDescription

// An app for the terminal over bmo: notes that a server has, and that can be read, searched and edited without it.
let package = Package(
    name: "Notes",
    platforms: [.macOS(.v14)],
    dependencies: [.package(name: "bmo", path: "../..")],
    targets: [
        .executableTarget(
            name: "Notes",
            dependencies: [
                .product(name: "BMO", package: "bmo"), .product(name: "LinkableRESTBridge", package: "bmo"),
            ],
            // Note and Hit, from bmo.yml.
            plugins: [.plugin(name: "BMOModels", package: "bmo")])
    ]
)
