// swift-tools-version: 6.2
import PackageDescription

// A package of its own that uses nothing of bmo: the program that one would write by hand instead.
let package = Package(
    name: "peers",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0")],
    targets: [
        .executableTarget(
            name: "UserSync", dependencies: [.product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: [.swiftLanguageMode(.v6)])
    ]
)
