import Foundation
import Model
import Testing

/// An invalid configuration under `Fixtures/config`: a folder with `bmo.yml` and its exact diagnostics, `expected.txt`.
///
/// The first line says what the case proves and of what kind it is: `Structure` is what the JSON Schema of the file
/// refuses too.
struct InvalidConfiguration: CustomTestStringConvertible, Sendable {
    static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    static let root = repository.appendingPathComponent("Fixtures/config")

    let folder: URL

    var testDescription: String { folder.lastPathComponent }

    static let all: [InvalidConfiguration] = {
        let folders = (try? FileManager.default.contentsOfDirectory(at: root, includingPropertiesForKeys: nil)) ?? []
        return folders.filter { FileManager.default.fileExists(atPath: $0.appendingPathComponent("bmo.yml").path) }
            .sorted { $0.path < $1.path }
            .map { InvalidConfiguration(folder: $0) }
    }()

    var text: String {
        get throws { try String(contentsOf: folder.appendingPathComponent("bmo.yml"), encoding: .utf8) }
    }

    /// The configuration that `bmo init --demo` writes.
    static var demonstration: String {
        get throws {
            let file = repository.appendingPathComponent("Sources/BMOCommand/Resources/demo.yml")
            return try String(contentsOf: file, encoding: .utf8)
        }
    }

    var expected: URL { folder.appendingPathComponent("expected.txt") }

    /// The plugins of all cases, and those that the case brings itself.
    var plugins: [PluginSchema] {
        get throws { try Self.plugins(in: Self.root) + Self.plugins(in: folder) }
    }

    /// The schemas of the bridges of this repository, as `Fixtures/plugins` has them; an end-to-end test keeps them fresh.
    static func shippedPlugins() throws -> [PluginSchema] {
        try plugins(in: repository.appendingPathComponent("Fixtures"))
    }

    static func plugins(in folder: URL) throws -> [PluginSchema] {
        let folder = folder.appendingPathComponent("plugins")
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".options.json") }.map { String($0.dropLast(".options.json".count)) }
        return try names.sorted().map { name in
            func schema(_ part: String) throws -> String {
                try String(contentsOf: folder.appendingPathComponent("\(name).\(part).json"), encoding: .utf8)
            }
            return PluginSchema(name: name, optionsSchema: try schema("options"), entitySchema: try schema("entity"))
        }
    }
}
