internal import BridgeHost
internal import Foundation

/// The files of a new bridge's package.
///
/// The bridge reads a file of lines. It works at once, and is small enough to be replaced piece by piece.
struct Scaffold {
    /// The plugin's name in a configuration.
    let name: String
    /// The location of the kit: a folder, or the address of a git repository.
    let kit: String

    enum Language: String, CaseIterable {
        case swift, c
    }

    /// The name as a Swift type name: `AcmeCrm` for `acme-crm`.
    var typeName: String {
        name.split { $0 == "-" || $0 == "_" }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// Whether the package manager fetches the kit.
    var kitIsRemote: Bool { kit.contains("://") || kit.hasPrefix("git@") }

    /// Returns the files' paths and contents.
    func files(_ language: Language) -> [(path: String, text: String)] {
        let own = language == .swift ? swiftFiles : cFiles
        return own + [
            ("bmo.yml", config), ("conformance.yml", conformance), ("fixture/items.tsv", fixture),
            (".gitignore", ".build/\nbuild/\nPackage.resolved\nbmo.sqlite*\n"),
            (".github/workflows/ci.yml", workflow(language)), ("README.md", readme(language)),
        ]
    }

    /// Returns the library's path, relative to the package.
    func library(_ language: Language) -> String {
        language == .swift ? ".build/release/lib\(typeName)Bridge.so" : "build/lib\(typeName)Bridge.so"
    }

    private func build(_ language: Language) -> String {
        language == .swift ? "swift build -c release" : "make"
    }

    private var config: String {
        """
        # Try it: BMO_PLUGIN_PATH=FOLDER-OF-THE-LIBRARY bmo sync
        version: 1
        bridges:
          items:
            plugin: \(name)
            options: {path: fixture/items.tsv}
        entities:
          Item:
            bridge: items
            key: id
            attributes:
              id: integer
              name: text

        """
    }

    private var conformance: String {
        """
        # What `bmo plugins test` uses: docs/conformance.md of bmo explains the checks.
        config: bmo.yml
        level: strict
        wrong_options: {path: fixture/no-such-file.tsv}

        """
    }

    private var fixture: String {
        (1...250).map { "\($0)\titem \($0)\n" }.joined()
    }

    private func workflow(_ language: Language) -> String {
        let clone = kitIsRemote ? kit : "https://YOUR-HOST/bmo.git"
        // If the kit is a local folder, it has another path in CI.
        let place = kitIsRemote || language == .c ? "" : "sed -i 's|path: \".*\"|path: \"/opt/bmo\"|' Package.swift && "
        let kitOfMake = language == .c ? " KIT=/opt/bmo/Sources/CBridge/include" : ""
        return """
            name: CI
            on: [push, pull_request]
            jobs:
              test:
                runs-on: ubuntu-latest
                container: swift:6.3-bookworm
                steps:
                  - uses: actions/checkout@v4
                  # bmo itself: build it from source once and cache it, or fetch your build of it.
                  - run: git clone \(clone) /opt/bmo && cd /opt/bmo && Scripts/install && swift build -c release
                  - run: \(place)\(build(language))\(kitOfMake)
                  - run: /opt/bmo/.build/release/bmo plugins test \(library(language)) --junit report.xml

            """
    }

    private func readme(_ language: Language) -> String {
        let sources =
            language == .swift ? "Sources/\(typeName)Bridge/\(typeName)Bridge.swift" : "\(name)_bridge.c"
        return """
            # \(typeName)Bridge

            A bridge of bmo, called `\(name)` in a config. So far it reads the lines of a file, `ID<TAB>NAME`.

                \(build(language))
                bmo plugins test \(library(language))

            The second command proves that the bridge keeps the contract: all of it is in conformance.yml and bmo.yml.
            Then make it yours, piece by piece, in `\(sources)`: the options, the entity's section, and where records
            come from. What users get:

                bmo plugins install \(library(language))     # copies it and pins it in bmo.lock
                bmo sync

            """
    }
}
