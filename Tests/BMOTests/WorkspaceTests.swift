import BridgeHost
import BridgeTestSupport
import Foundation
import ImportTestSupport
import Mapping
import Model
import TestSupport
import SQLiteStore
import Testing

@testable import BMO

/// Loading a configuration with the plugins that it names, and the order of a sync.
@Suite struct WorkspaceTests {
    private let place: LibraryWorkspace<CountingHost>

    init() throws { place = try LibraryWorkspace.counting() }

    private func faults(_ text: String) async throws -> [String] {
        let error = try await #require(throws: ConfigurationErrors.self) { _ = try await place.workspace(text) }
        let prefix = place.folder.path + "/"
        return error.diagnostics.map { $0.description.replacing(prefix, with: "") }
    }

    @Test func `a good configuration loads`() async throws {
        let workspace = try await place.workspace(CountingHost.numbers(section: "count: 3"))
        #expect(workspace.model.entities.map(\.name) == ["Number"])
        #expect(workspace.plugins.keys.sorted() == ["counting"])
        #expect(workspace.configuration.databasePath == place.database)
        #expect(FileManager.default.fileExists(atPath: place.database) == false, "loading makes nothing")
    }

    @Test func `all faults are reported at once`() async throws {
        let faults = try await faults(
            """
            version: 1
            bridges:
              numbers: {plugin: counting, options: {count: many}}
            entities:
              Number:
                bridge: number
                key: nr
                attributes: {id: intger}
              Other:
                bridge: numbers
                key: id
                attributes: {id: integer}
                relationships: {number: {to: Nummer}}
            """)
        #expect(faults.count == 5, "\(faults.joined(separator: "\n"))")
        for words in ["\"count\"", "unknown bridge \"number\"", "\"nr\"", "unknown type \"intger\"", "\"Nummer\""] {
            #expect(faults.contains { $0.contains(words) }, "\(words) in \(faults.joined(separator: "\n"))")
        }
        #expect(faults.nonEmptyAllSatisfy { $0.hasPrefix("bmo.yml:") })
    }

    @Test func `constants that do not fit their types are faults of the configuration`() async throws {
        let faults = try await faults(
            """
            version: 1
            bridges: {numbers: {plugin: counting}}
            entities:
              Number:
                bridge: numbers
                key: id
                attributes:
                  id: integer
                  day: {type: date, constant: 20261121}
                  code: {type: uuid, transform: {map: {a: abc, b: 2F1B8A52-6A1C-4F0E-9D3B-0C5A7E1D2F34}}}
                  none: {type: date, constant: null}
                  price: {type: decimal, constant: 1.50}
                counting: {count: 3}
            """)
        #expect(
            faults == [
                "bmo.yml:9:7: error: \"constant\" of Number.day has a value that is not of the type date: "
                    + "\"20261121\"; write a date such as 2026-01-31"
            ])
    }

    @Test func `a table with more columns than the database can have is refused`() async throws {
        func text(_ count: Int) -> String {
            let attributes = (1..<count).map { "a\($0): text" }.joined(separator: ", ")
            return """
                version: 1
                bridges: {numbers: {plugin: counting}}
                entities:
                  Number: {bridge: numbers, key: id, attributes: {id: integer, \(attributes)}, counting: {count: 3}}
                """
        }
        let faults = try await faults(text(2000))
        #expect(faults.count == 1)
        let words = "bmo.yml:4:3: error: the table of Number has 2000 columns, and can have 1999; read members "
        #expect(faults[0].hasPrefix(words), "\(faults)")
        #expect(try await place.workspace(text(1999)).model.entities[0].fields.count == 1999)
    }

    @Test func `a key with more attributes than the database can look for is refused`() async throws {
        func text(_ count: Int) -> String {
            let names = (0..<count).map { "a\($0)" }
            let attributes = names.map { "\($0): text" }.joined(separator: ", ")
            return """
                version: 1
                bridges: {numbers: {plugin: counting}}
                entities:
                  Number:
                    {bridge: numbers, key: [\(names.joined(separator: ", "))], attributes: {\(attributes)},
                     counting: {count: 3}}
                """
        }
        let faults = try await faults(text(1000))
        #expect(faults.count == 1)
        let words = "bmo.yml:4:3: error: the key of Number has 1000 attributes, and can have 999; name those that "
        #expect(faults[0].hasPrefix(words), "\(faults)")
        #expect(try await place.workspace(text(999)).model.entities[0].key.count == 999)
    }

    @Test func `an unknown plugin is named with those that there are`() async throws {
        let faults = try await faults(
            CountingHost.numbers().replacing("plugin: counting", with: "plugin: countng")
                .replacing("counting: {", with: "countng: {"))
        #expect(faults.count == 1)
        #expect(
            faults[0].hasPrefix("bmo.yml:3:") && faults[0].contains("\"countng\"") && faults[0].contains("counting"))
    }

    @Test func `a plugin that is none is refused at its place`() async throws {
        try place.server.folder.write("no library", to: "libTextBridge.so")
        let faults = try await faults(
            CountingHost.numbers().replacing("plugin: counting", with: "plugin: text")
                .replacing("counting: {", with: "text: {"))
        #expect(faults.count == 1)
        #expect(
            faults[0].hasPrefix("bmo.yml:3:3: error: the plugin \"text\" can't be used: plugins/libTextBridge.so: "))
    }

    @Test func `a missing file is named`() async throws {
        let error = try await #require(throws: ConfigurationErrors.self) {
            _ = try await Workspace.load(
                path: place.folder.appending("none.yml"), host: place.server.host, stores: SQLiteStores())
        }
        #expect(error.description.contains("none.yml") && error.description.contains("bmo init"))
    }

    @Test func `a secret whose variable is not set is warned of`() async throws {
        try place.folder.write(
            CountingHost.numbers(options: "secret: {env: BMO_A}"), to: "bmo.yml")
        let path = place.folder.appending("bmo.yml")
        let without = try await Workspace.load(
            path: path, host: place.server.host, stores: SQLiteStores(), environment: [:])
        #expect(without.configuration.warnings.map(\.message).contains { $0.contains("BMO_A") })
        let with = try await Workspace.load(
            path: path, host: place.server.host, stores: SQLiteStores(), environment: ["BMO_A": "x"])
        #expect(with.configuration.warnings.isEmpty)
    }

    @Test func `a literal secret is refused and not shown`() async throws {
        let faults = try await faults(CountingHost.numbers(options: "secret: hunter2"))
        #expect(faults.count == 1 && faults[0].contains("{env: NAME}"))
        #expect(faults[0].contains("hunter2") == false)
    }

    // MARK: the order

    private func order(_ names: [String]? = nil, _ entities: Entity...) throws -> [String] {
        let workspace = Workspace(
            configuration: Configuration(
                file: "bmo.yml", databasePath: "", bridges: [], model: Model(entities: entities)),
            plugins: [:], model: try CompiledModel(Model(entities: entities)), host: place.server.host,
            stores: SQLiteStores())
        return workspace.syncOrder(names).map { entities[$0].name }
    }

    private func entity(_ name: String, to targets: String..., many: [String] = []) -> Entity {
        Entity(
            name, key: ["id"], [.of("id", .integer)],
            targets.map { .one("to\($0)", $0) } + many.map { .many("many\($0)", $0) })
    }

    @Test func `what others refer to comes first`() throws {
        #expect(
            try order(
                nil, entity("City", to: "Region"), entity("Region", to: "Country"), entity("Country"),
                entity("Planet")) == ["Country", "Region", "City", "Planet"])
    }

    @Test func `a list of objects does not count`() throws {
        #expect(try order(nil, entity("Country", many: ["City"]), entity("City")) == ["Country", "City"])
    }

    @Test func `circles are scanned once`() throws {
        #expect(try order(nil, entity("A", to: "B"), entity("B", to: "C"), entity("C", to: "A")) == ["C", "B", "A"])
        #expect(try order(nil, entity("A", to: "A")) == ["A"])
    }

    @Test func `named entities keep the order`() throws {
        #expect(
            try order(["A", "C", "A", "Unknown"], entity("A", to: "B"), entity("B"), entity("C", to: "A")) == [
                "A", "C",
            ])
        #expect(try order([], entity("A")).isEmpty)
    }
}
