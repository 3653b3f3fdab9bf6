import Foundation
import Model
import SwiftModels
import TestSupport
import Testing

/// The text that is generated; Models.swift, which the other suites compile, is such a text.
@Suite struct SwiftModelsTests {
    private func source(of text: String, access: SwiftModels.Access = .internal) throws -> String {
        let configuration = try ConfigurationFile(text: text, path: "bmo.yml").configuration()
        return try SwiftModels(configuration.model, of: "bmo.yml", access: access).source
    }

    private func configuration(_ entities: String) -> String {
        "version: 1\nbridges: {api: {plugin: rest, options: {}}}\nentities:\n" + entities
    }

    @Test func `Models swift is what is made of models yml`() throws {
        let folder = PackageFolder.path + "/Tests/SwiftModelsTests/"
        let file = ConfigurationFile(path: folder + "models.yml")
        let source = try SwiftModels(file.configuration().model, of: "models.yml").source
        let expected = try String(contentsOfFile: folder + "Models.swift", encoding: .utf8)
        let hint: Comment = "if the new text is right: bmo-models models.yml Models.swift"
        #expect(source == expected, hint)
    }

    @Test func `types for other modules are public in every part`() throws {
        let text = try source(
            of: configuration(
                "  Note: {bridge: api, key: id, writable: true, attributes: {id: integer, text: text}}\n"),
            access: .public)
        let open = text.split(separator: "\n").filter { line in
            ["struct", "static let", "let", "var", "init", "func", "import"].contains { word in
                line.drop { $0 == " " }.hasPrefix("\(word) ") || line.drop { $0 == " " }.hasPrefix("\(word)(")
            }
        }
        #expect(open.isEmpty, "\(open)")
        #expect(text.contains("public struct Note: WritableObject, Identifiable {"))
        #expect(text.contains("public import BMO\n"))
    }

    @Test func `names that Swift does not accept, or that clash, are changed`() throws {
        let text = try source(
            of: configuration(
                "  a: {bridge: api, key: id, attributes: {id: text, id_: text, a_b: text, aB: text, self: text, "
                    + "in: text, URL: url}}\n"))
        for part in [
            "struct A: BackedObject, Identifiable", "let id: String\n", "let id2: String?", "let aB: String?",
            "let aB2: String?", "let selfValue: String?", "let `in`: String?", "let url: URL?",
            "ObjectAttribute<A, String>(\"a_b\")",
        ] { #expect(text.contains(part), "\(part)") }
    }

    @Test func `names that the generated code uses itself are changed`() throws {
        let text = try source(
            of: configuration(
                "  Key: {bridge: api, key: id, attributes: {id: integer, await: text}}\n"
                    + "  local_value: {bridge: api, key: [localValues, attributeNames], attributes: "
                    + "{localValues: integer, attributeNames: text}, relationships: {owner: {to: Key}}}\n"))
        for part in [
            "struct KeyObject: BackedObject, Identifiable {", "static let entityName = \"Key\"",
            "let `await`: String?", "self.`await` = `await`", "struct LocalValueObject: BackedObject, Identifiable {",
            "ToOneRelationship<LocalValueObject, KeyObject>(\"owner\"", "ObjectReference<KeyObject>?",
            "static let attributeNames = [\"localValues\", \"attributeNames\"]", "let localValuesValue: Int\n",
            "let attributeNamesValue: String\n", "init?(localValues: [LocalValue]) {",
        ] { #expect(text.contains(part), "\(part)") }
    }

    @Test func `two entities of one Swift name are refused`() throws {
        let error = try #require(throws: ConfigurationErrors.self) {
            try source(
                of: configuration(
                    "  order_line: {bridge: api, key: id, attributes: {id: text}}\n"
                        + "  OrderLine: {bridge: api, key: id, attributes: {id: text}}\n"))
        }
        #expect(
            error.diagnostics.map(\.message) == [
                "the entities \"order_line\" and \"OrderLine\" would both be the Swift type OrderLine"
            ])
    }
}
