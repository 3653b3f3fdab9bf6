import BridgeKit
import RESTBridge
import TestSupport
import Testing

/// Updates of a part of an object inside the object, at a server that takes what it gets for the whole of it.
extension WriteTests {
    private func make(_ style: String = "plain") throws {
        _ = try write(
            .create, style, ["create": [:]],
            values: ["text": "a", "address": ["city": "Lyon", "zip": "69001", "geo": ["lat": 1, "theirs": true]]])
    }

    /// Sets the city, where this side knows the zip.
    private func move(_ style: String, _ update: Literal, readOne: Literal? = nil) throws -> String? {
        try write(
            .update, style, ["update": update], key: ["id": 1], values: ["address": ["city": "Paris"]],
            object: ["id": 1], changed: [["path": ["address", "city"]]], nested: ["address": ["zip": "69001"]],
            readOne: readOne)
    }

    @Test(arguments: ["json", "form"])
    func `an update of a part of a nested object sends the whole of it, as the remote has it`(format: String)
        async throws
    {
        try make()
        _ = try move("plain", ["format": .text(format)])
        let sent = try #require(try asked("PATCH").first?.path)
        #expect(sent.contains(format == "json" ? #""theirs":true"# : "address%5Bgeo%5D%5Btheirs%5D=true"), "\(sent)")
        #expect(!sent.contains("text"))
        if format == "json" {
            #expect(
                try await remote("/plain/notes/1")
                    == #"{"text": "a", "address": {"city": "Paris", "zip": "69001", "geo": {"lat": 1, "theirs": true}}, "id": 1}"#
            )
        }
    }

    @Test func `a form leaves out what is empty on the remote and was not set`() throws {
        _ = try write(
            .create, "plain", ["create": [:]],
            values: ["address": ["city": "Lyon", "zip": "69001", "geo": ["lat": .null], "lines": []]])
        _ = try move("plain", ["format": "form"])
        let body = try #require(try asked("PATCH").first?.path.split(separator: "\n").last)
        #expect(Set(body.split(separator: "&")) == ["address%5Bcity%5D=Paris", "address%5Bzip%5D=69001"], "\(body)")
    }

    @Test(
        arguments: [
            (.null, #"{"geo": {"lat": 1}}"#), (["theirs": 2], #"{"theirs": 2, "geo": {"lat": 1}}"#),
        ] as [(Literal, String)])
    func `a JSON Patch adds the objects around a value that the remote lacks`(
        address: Literal, expected: String
    ) async throws {
        _ = try write(.create, "plain", ["create": [:]], values: ["text": "a", "address": address])
        _ = try write(
            .update, "plain", ["update": ["format": "json_patch"]], key: ["id": 1],
            values: ["address": ["geo": ["lat": 1]]], object: ["id": 1],
            changed: [["path": ["address", "geo", "lat"]]],
            nested: ["address": [:]], before: ["address": ["geo": ["lat": .null]]])
        #expect(try asked("GET").count == 1)
        #expect(try await remote("/plain/notes/1") == #"{"text": "a", "address": \#(expected), "id": 1}"#)
    }

    @Test(arguments: ["json", "full", "form"])
    func `an object that was read is not sent where the remote has changed a value of the edit`(format: String) throws {
        try make()
        func move(from city: String) throws {
            _ = try write(
                .update, "plain", ["update": ["format": .text(format)]], key: ["id": 1],
                values: ["address": ["city": "Paris"]], object: ["id": 1], changed: [["path": ["address", "city"]]],
                nested: ["address": ["zip": "69001"]], before: ["address": ["city": .text(city)], "unknown": 1])
        }
        let error = try bridgeError { try move(from: "Nice") }
        #expect(error.code == .conflict)
        #expect(error.message.hasSuffix("was not sent: the remote now has a different address.city"), "\(error)")
        #expect(try asked("PATCH").isEmpty)
        try move(from: "Lyon")
        #expect(try asked("PATCH").count == 1)
    }

    @Test func `an object that cannot be read is sent with the parts that are known here`() async throws {
        try make("blind")
        let record = try move("blind", [:])
        #expect(record == #"{"text":"a","address":{"zip":"69001","city":"Paris"},"id":1}"#)
        #expect(try asked("GET").count == 1)
    }

    @Test(arguments: ["", "full"])
    func `the object is read as read_one says`(format: String) async throws {
        try make("blind")
        let update: Literal = format.isEmpty ? [:] : ["format": .text(format)]
        _ = try move("blind", update, readOne: ["path": "/blind/notes/{parent.id}", "query": ["view": "whole"]])
        #expect(try await remote("/blind/notes/1?view=whole").contains(#""geo": {"lat": 1, "theirs": true}"#))
        #expect(try await remote("/blind/notes/1?view=whole").contains(#""city": "Paris", "zip": "69001""#))
    }

    @Test(arguments: [["format": "merge_patch"], ["format": "json_patch"], ["nested": "part"]] as [[String: String]])
    func `a remote that merges gets the changed part alone, and nothing is read`(update: [String: String]) throws {
        try make()
        _ = try move("plain", .object(update.map { ($0.key, .text($0.value)) }))
        #expect(try asked("GET").isEmpty)
        #expect(try asked("PATCH").first?.path.contains("zip") == false)
    }

    @Test func `the way to say how nested objects are sent is checked`() throws {
        let unknown = try bridgeError { _ = try move("plain", ["nested": "some"]) }
        #expect(unknown.message == #"write.update.nested is "some""#)
        #expect(unknown.remedy == "use whole or part")
        let idle = try bridgeError { _ = try move("plain", ["nested": "whole", "format": "merge_patch"]) }
        #expect(idle.message == "write.update.nested has no effect with format: merge_patch")
    }

    @Test func `a remote that refuses the whole of a nested object is reported with the way out`() throws {
        _ = try write(.create, "plain", ["create": [:]], values: ["text": "a"])
        let error = try bridgeError { _ = try move("refuse", [:], readOne: ["path": "/plain/notes/{parent.id}"]) }
        #expect(error.remedy?.hasSuffix("set write.update.nested: part") == true, "\(error)")
    }

    @Test(arguments: ["json", "full", "merge_patch", "json_patch"])
    func `a value that is an object takes the place of the one that was there`(format: String) async throws {
        _ = try write(
            .create, "plain", ["create": [:]], values: ["text": "a", "labels": ["old": 1, "both": ["x": 1, "y": 2]]])
        _ = try write(
            .update, "plain", ["update": ["format": .text(format)]], key: ["id": 1],
            values: ["labels": ["both": ["x": 3], "new": 4]],
            changed: [["path": ["labels"], "before": ["old": 1, "both": ["x": 1, "y": 2]]]])
        if format == "merge_patch" {
            #expect(
                try asked("PATCH").first?.path.hasSuffix(#"{"labels":{"both":{"x":3,"y":null},"new":4,"old":null}}"#)
                    == true)
        } else {
            #expect(
                try await remote("/plain/notes/1") == #"{"text": "a", "labels": {"both": {"x": 3}, "new": 4}, "id": 1}"#
            )
        }
    }
}
