internal import Foundation

/// The files of a new bridge's package.
///
/// The bridge reads a file of lines. It works at once, and is small enough to be replaced piece by piece. The package of
/// a bridge called `acme` is in `Resources/Scaffold`.
struct Scaffold {
    /// The plugin's name in a configuration.
    let name: String
    /// The location of the kit: a folder, or the address of a git repository.
    let kit: Kit

    /// What a new bridge is built with.
    enum Kit {
        /// bmo's sources: a folder, or the address of a git repository.
        case sources(String)
        /// The folder of the installed C headers.
        case headers(String)
    }

    enum Language: String, CaseIterable {
        case swift, c
    }

    /// The name as a Swift type name: `AcmeCrm` for `acme-crm`.
    private var typeName: String {
        name.split { $0 == "-" || $0 == "_" }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// Whether the package manager fetches the kit.
    private var kitIsRemote: Bool { sources.contains("://") || sources.hasPrefix("git@") }

    /// The sources' folder or address; where only headers are installed, a placeholder for the author's CI.
    private var sources: String {
        switch kit {
        case .sources(let location): location
        case .headers: Self.unknownAddress
        }
    }

    private static let unknownAddress = "https://YOUR-HOST/bmo.git"

    /// The folder of the C headers.
    private var headers: String {
        switch kit {
        case .sources(let location): (kitIsRemote ? "/opt/bmo" : location) + "/Sources/CBridge/include"
        case .headers(let folder): folder
        }
    }

    /// Returns the files' paths and contents.
    func files(_ language: Language) -> [(path: String, text: String)] {
        let files: [(path: String, resource: [UInt8])] =
            sources(language) + [
                ("bmo.yml", PackageResources.acme_yml), ("conformance.yml", PackageResources.conformance_yml),
                (".gitignore", PackageResources.gitignore), (".github/workflows/ci.yml", PackageResources.ci_yml),
                ("README.md", PackageResources.AcmeBridge_md),
            ]
        let values = values(language)
        return files.map { path, resource in
            (Self.replacing(values, in: path), Self.replacing(values, in: text(of: resource)))
        } + [("fixture/items.tsv", (1...250).map { "\($0)\titem \($0)\n" }.joined())]
    }

    private func sources(_ language: Language) -> [(path: String, resource: [UInt8])] {
        switch language {
        case .swift:
            [
                ("Package.swift", PackageResources.AcmePackage_swift),
                ("Sources/AcmeBridge/AcmeBridge.swift", PackageResources.AcmeBridge_swift),
                ("Sources/AcmeBridge/LineSource.swift", PackageResources.LineSource_swift),
            ]
        case .c: [("Makefile", PackageResources.Makefile), ("acme_bridge.c", PackageResources.acme_bridge_c)]
        }
    }

    private func text(of resource: [UInt8]) -> String {
        let text = String(decoding: resource, as: UTF8.self)
        guard kitIsRemote else { return text }
        return text.replacing(
            ".package(name: \"bmo\", path: \"@KIT@\")", with: ".package(url: \"@KIT@\", branch: \"main\")")
    }

    /// Returns the library's path, relative to the package.
    func library(_ language: Language) -> String {
        (language == .swift ? ".build/release" : "build") + "/lib\(typeName)Bridge.so"
    }

    /// Returns the command that builds the package.
    func build(_ language: Language) -> String { language == .swift ? "swift build -c release" : "make" }

    /// Returns what replaces the words of the resources.
    private func values(_ language: Language) -> [String: String] {
        // CI clones the kit to another folder.
        let buildInCI =
            switch language {
            case .c: "make KIT=/opt/bmo/Sources/CBridge/include"
            case .swift where kitIsRemote: build(language)
            case .swift: "sed -i 's|path: \".*\"|path: \"/opt/bmo\"|' Package.swift && \(build(language))"
            }
        return [
            "acme": name, "Acme": typeName, "@BUILD@": build(language), "@CI_BUILD@": buildInCI,
            "@CLONE@": kitIsRemote ? sources : Self.unknownAddress,
            "@HEADERS@": headers, "@KIT@": sources, "@LIBRARY@": library(language),
            "@SOURCES@": language == .swift ? "Sources/\(typeName)Bridge/\(typeName)Bridge.swift" : "\(name)_bridge.c",
        ]
    }

    private static func replacing(_ values: [String: String], in text: String) -> String {
        text.replacing(/acme|Acme|@[A-Z_]+@/) { match in values[String(match.output)] ?? String(match.output) }
    }
}
