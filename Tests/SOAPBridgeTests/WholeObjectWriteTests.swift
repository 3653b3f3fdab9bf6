import BridgeKit
import Foundation
import RecordBatch
import TestSupport
import Testing

@testable import SOAPBridge

/// An update sends back what the service has, with the changes in it.
@Suite struct WholeObjectWriteTests {
    private let server: RemoteServer

    init() async throws { server = try await RemoteServer.soap("rich.php", "rich.wsdl") }

    private static let update: Literal = ["operation": "UpdateThing", "values": "thing"]

    private func update(
        _ values: Literal, rule: Literal = update, object: Literal = [:], isReadByKey: Bool = true,
        section more: Literal = [:]
    ) throws -> String {
        let plain: Literal = [
            "operation": "ListThings", "records": "ListThingsResponse/thing", "write": ["update": rule],
        ]
        let section = plain.adding(more)
        let options: Literal = ["wsdl": .text(server.url + "/s?wsdl"), "wsdl_cache": ""]
        let bridge = try SOAPBridge(options: options.options, context: BridgeContext())
        var request = WriteRequest(
            .update, entity: "Thing", section: section.options, key: (["id": 1] as Literal).options,
            values: values.options, object: object.options)
        request.keyPaths = ["id": ["id"]]
        if isReadByKey {
            let readOne: Literal = [
                "operation": "GetThing", "records": "GetThingResponse/thing", "input": ["id": "{parent.id}"],
            ]
            request.readOne = readOne.options
        }
        let writer = RecordBatchWriter()
        try bridge.write(request, into: writer)
        let batch = try writer.finish()
        return batch.count > 0 ? batch[0].json : ""
    }

    private func sent() throws -> String {
        try String(contentsOfFile: server.folder.appending("requests.log"), encoding: .utf8)
    }

    private static func json(_ changes: (String, String)...) -> String {
        changes.reduce(
            #"{"@xsi:type":"{urn:things}Gadget","@kind":"k","id":1,"name":"their name","title":"their title","#
                + #""size":{"@scale":"2","@unit":"cm","width":3,"height":4.50},"tags":{"tag":["a","b"]},"code":"AP8=","#
                + ##""price":{"@currency":"EUR","#text":9.90},"extra":{"@mark":"m","deep":"kept"},"volts":230}"##
        ) { $0.replacing($1.0, with: $1.1) }
    }

    @Test(arguments: [true, false])
    func `nested objects, attributes, lists, bytes, types and unknown elements stay`(isReadByKey: Bool) throws {
        // The local object calls by `name` what the service calls `title`.
        let updated = try update(
            ["title": "our title"], object: ["id": 1, "name": "our title", "size": "lost"], isReadByKey: isReadByKey)
        let expected = Self.json(("their title", "our title"))
        #expect(try normal(updated) == normal(expected))
        let sent = try sent()
        #expect(sent.contains(":deep>kept<") && sent.contains("urn:other") && sent.contains(":mark=\"m\""), "\(sent)")
        // Twice: what was sent once is what is read now.
        #expect(try normal(update(["title": "their title"])) == normal(Self.json()))
    }

    /// Members in alphabetical order: attributes have none.
    private func normal(_ json: String) throws -> String {
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8))
        return String(decoding: try JSONSerialization.data(withJSONObject: object, options: .sortedKeys), as: UTF8.self)
    }

    @Test func `one part of a nested object changes, and a list and bytes as the schema has them`() throws {
        let updated = try update([
            "size": ["width": 7], "tags": .array(["c"]), "price": "1.10", "code": "0A0B",
        ])
        let expected = Self.json(
            (#""width":3"#, #""width":7"#), (#"["a","b"]"#, #"["c"]"#), ("9.90", "1.10"), ("AP8=", "Cgs="))
        #expect(try normal(updated) == normal(expected))
    }

    @Test func `a list that is read plain is changed and sent back as its wrapper`() throws {
        let updated = try update(["tags": .array(["c", "d"])], section: ["wrapped_lists": "plain"])
        let expected = Self.json((#"{"tag":["a","b"]}"#, #"["c","d"]"#))
        #expect(try normal(updated) == normal(expected))
        #expect(try sent().contains(":tag>c<"))
        #expect(try normal(update(["tags": .array([])], section: ["wrapped_lists": "plain"])).contains(#""tags":[]"#))
    }

    @Test func `bytes are written in the schema's spelling`() throws {
        let writer = RecordBatchWriter()
        writer.object {
            writer.key("code")
            [UInt8]([0x0A, 0xBC]).withUnsafeBytes { writer.bytes($0) }
        }
        let batch = try writer.finish()
        let definition = try WSDLReader.load(try #require(DocumentLocation(server.url + "/s?wsdl"))) { _ in
            Array(
                try Data(contentsOf: URL(fileURLWithPath: server.folder.appending("service.wsdl")))
            )
        }
        let port = try definition.port(service: nil, port: nil, version: nil).1
        let text = try EnvelopeWriter.write(
            port.operation("UpdateThing"), version: .v11,
            input: .object([.init(name: "thing", value: InputValue(batch[0]))]),
            schemas: definition.schemas)
        #expect(String(decoding: text.bytes, as: UTF8.self).contains(":code>0ABC<"))
    }

    @Test func `what cannot be sent back whole is refused, and nothing is sent`() throws {
        let cases = [
            ("<t:name>n <b>x</b></t:name>", "takes a text"),
            ("<t:name>n</t:name>loose", "it has text between elements"),
            (
                "<t:name>n</t:name><t:extra xmlns:t='urn:x'/><t:name>m</t:name>",
                "it repeats several elements in alternation"
            ),
        ]
        for (content, words) in cases {
            try (#"<t:thing xmlns:t="urn:things" kind="k"><t:id>1</t:id>"# + content + "</t:thing>")
                .write(toFile: server.folder.appending("odd"), atomically: true, encoding: .utf8)
            let error = try bridgeError { _ = try update(["title": "x"]) }
            #expect("\(error)".contains(words), "\(content): \(error)")
            #expect(!FileManager.default.fileExists(atPath: server.folder.appending("requests.log")), "\(content)")
        }
    }

    @Test func `what the update takes and the object as it is read lacks is refused, or left out by name`() throws {
        let rule: Literal = ["operation": "UpdateLabel", "values": "label"]
        // A Gadget is no Label, and one that is no Thing is not taken for one.
        let derived = try bridgeError {
            _ = try update(["title": "x"], rule: rule.adding(["leave_out": .array(["colour"])]))
        }
        #expect(derived.message.contains("of the type Gadget, which <label> does not take"), "\(derived)")
        try #"<t:thing xmlns:t="urn:things" kind="k"><t:id>1</t:id><t:name>n</t:name></t:thing>"#
            .write(toFile: server.folder.appending("odd"), atomically: true, encoding: .utf8)
        let error = try bridgeError { _ = try update(["title": "x"], rule: rule) }
        #expect(error.code == .unsupported && error.message.contains("<label> takes colour"), "\(error)")
        #expect(error.remedy?.contains("leave_out") == true)
        _ = try update(["title": "x"], rule: rule.adding(["leave_out": .array(["colour"])]))
        _ = try update(["title": "x", "colour": "red"], rule: rule)
    }

    @Test func `another object than the one that was asked for is not changed`() throws {
        try #"<t:thing xmlns:t="urn:things" kind="k"><t:id>2</t:id><t:name>n</t:name></t:thing>"#
            .write(toFile: server.folder.appending("odd"), atomically: true, encoding: .utf8)
        #expect(try bridgeError { _ = try update(["title": "x"]) }.message.contains("read_one returned another object"))
        #expect(try bridgeError { _ = try update(["title": "x"], isReadByKey: false) }.code == .notFound)
    }

    @Test func `a check says what an update would be refused for, and what a create lacks`() throws {
        func check(_ write: Literal) throws -> [String] {
            let section: Literal = [
                "operation": "ListThings", "records": "ListThingsResponse/thing", "write": write,
            ]
            let options: Literal = ["wsdl": .text(server.url + "/s?wsdl"), "wsdl_cache": ""]
            let bridge = try SOAPBridge(options: options.options, context: BridgeContext())
            var request = FetchRequest(entity: "Thing", section: section.options, explains: true)
            request.writtenPaths = [["title"], ["size", "width"]]
            return try bridge.fetch(request).next(into: RecordBatchWriter()).warnings
        }
        #expect(try check(["update": Self.update]) == [])
        let error = try bridgeError { _ = try check(["update": ["operation": "UpdateLabel", "values": "label"]]) }
        #expect(
            error.message.hasPrefix("write.update: <label> takes colour, which the object as it is read"), "\(error)")
        let leftOut: Literal = ["operation": "UpdateLabel", "values": "label", "leave_out": .array(["colour"])]
        #expect(try check(["update": leftOut]) == [])
        let warnings = try check(["create": Self.update])
        #expect(warnings.count == 1, "\(warnings)")
        #expect(
            warnings.first?.contains(
                "the schema requires UpdateThing/thing/@kind, UpdateThing/thing/id, UpdateThing/thing/name, which no attribute"
            )
                == true, "\(warnings)")
        let input: Literal = ["thing": ["@kind": "k", "id": 0, "name": "n"]]
        #expect(try check(["create": Self.update.adding(["input": input])]) == [])
    }

    @Test func `a check says that reading one object lacks the section's rule for one that is gone`() throws {
        let gone: Literal = ["faults": .array([["detail": "NotFound", "action": "not_found"]])]
        let other: Literal = ["faults": .array([["detail": "Conflict", "action": "conflict"]])]
        func warnings(_ section: Literal, read: Literal = [:], options: Literal = [:]) throws -> [String] {
            let list: Literal = [
                "operation": "ListThings", "records": "ListThingsResponse/thing", "write": ["update": Self.update],
            ]
            let one: Literal = [
                "operation": "GetThing", "records": "GetThingResponse/thing", "input": ["id": "{parent.id}"],
            ]
            let service: Literal = ["wsdl": .text(server.url + "/s?wsdl"), "wsdl_cache": ""]
            let bridge = try SOAPBridge(options: service.adding(options).options, context: BridgeContext())
            var request = FetchRequest(entity: "Thing", section: list.adding(section).options, explains: true)
            request.readOne = one.adding(read).options
            return try bridge.fetch(request).next(into: RecordBatchWriter()).warnings
        }
        let found = try warnings(gone, read: other)
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.hasPrefix("faults: the section's rule for not_found does not apply") == true, "\(found)")
        #expect(try warnings(gone, read: gone) == [])
        #expect(try warnings(gone, options: gone) == [])
        #expect(try warnings(other) == [])
    }
}
