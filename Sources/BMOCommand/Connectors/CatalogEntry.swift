internal import BridgeConformance
internal import Foundation
internal import Model

/// A ready configuration for a product or a service, with a recorded case beside it.
struct CatalogEntry {
    /// The name that `bmo init --from` takes.
    let name: String
    /// The path of its configuration.
    let file: String
    /// Whether it came with bmo, and not from a folder of the user's.
    let isShipped: Bool
    /// The text of its configuration.
    let text: String
    private let content: ConfigValue?

    /// An entity of the configuration.
    struct Entity {
        let name: String
        let plugin: String
        let isWritable: Bool
    }

    /// Reads the configuration of a connector.
    ///
    /// - Throws: ``CommandFailure`` for what cannot be read, or is not a configuration.
    init(name: String, file: String, isShipped: Bool) throws {
        // A configuration is at most 1 MiB: the reader of configurations refuses a larger one.
        let configuration = ConfigurationFile(path: file)
        let fault = configuration.faults.first { $0.severity == .error }
        guard fault == nil, let content = configuration.value, content.members != nil else {
            let words = fault.map { "\($0.location): \($0.message)" + ($0.remedy.map { "; \($0)" } ?? "") }
            throw CommandFailure(
                "the connector \"\(Terminal.printable(name))\" cannot be used: "
                    + Terminal.printable(words ?? "\(file) is not a configuration"), exitCode: CommandFailure.usage)
        }
        self.name = name
        self.file = file
        self.isShipped = isShipped
        self.content = content
        self.text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
    }

    /// The comment at the head of the file, without the marks.
    var head: [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).prefix { $0.hasPrefix("#") }
            .map { String($0.dropFirst($0.hasPrefix("# ") ? 2 : 1)) }
    }

    /// What it reads, in one line.
    var about: String { head.first ?? "" }

    /// The entities, in the order of the file.
    var entities: [Entity] {
        let bridges = content?["bridges"]?.members ?? []
        return (content?["entities"]?.members ?? []).map { name, entity in
            let bridge = entity["bridge"]?.string
            let plugin = bridges.first { $0.key == bridge }?.value["plugin"]?.string
            return Entity(name: name, plugin: plugin ?? "", isWritable: entity["writable"] == .bool(true))
        }
    }

    /// The environment variables that the configuration reads, in the order of the file.
    var variables: [String] {
        var names: [String] = []
        func walk(_ value: ConfigValue) {
            for (key, inner) in value.members ?? [] {
                if key == "env", let name = inner.string, !names.contains(name) { names.append(name) }
                walk(inner)
            }
            for inner in value.array ?? [] { walk(inner) }
        }
        if let bridges = content?["bridges"] { walk(bridges) }
        return names
    }

    /// What its case proves; nil if it has none.
    var proof: String? {
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
        guard file.hasSuffix("/bmo.yml"), FileManager.default.fileExists(atPath: folder + "/expected.txt"),
            let fixture = try? FixtureCase(folder: folder)
        else { return nil }
        return fixture.purpose
    }

    /// Returns the configuration for a file, with a database that is named after it, as `bmo introspect` does.
    func configuration(for output: String) -> String {
        let base = URL(fileURLWithPath: output).deletingPathExtension().lastPathComponent
        guard !["bmo", "-", ""].contains(base), content?["database"] == nil else { return text }
        let line = "version: 1\n"
        guard let place = text.range(of: "\n" + line) ?? text.range(of: line) else { return text }
        let database = ConfigurationTemplate.scalar(base + ".sqlite")
        return text.replacingCharacters(
            in: place, with: text[place] + "database: \(database)\n")
    }
}
