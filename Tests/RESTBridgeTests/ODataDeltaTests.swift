import BridgeKit
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// What an OData service says is gone: by the object's key, or by an id that holds it.
@Suite struct ODataDeltaTests {
    let server: RemoteServer
    let bridge: RESTBridge

    init() throws {
        server = try RemoteServer.shared.get()
        bridge = try RESTBridgeTests.bridge(["url": "\(server.url)"])
    }

    /// The scan of a delta with these entries.
    private func scan(_ entries: String, paths: [String]) throws -> Scan {
        let body = #"{"value":[\#(entries)],"@odata.deltaLink":"\#(server.url)/say?body=%7B%7D"}"#
        let encoded = body.utf8.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return "%" + (digits.count == 1 ? "0" : "") + digits
        }.joined()
        var request = FetchRequest(
            entity: "User", section: (["path": "/users", "preset": "odata"] as Literal).options,
            token: #"{"delta":"\#(server.url)/say?body=\#(encoded)"}"#)
        request.keyPaths = paths
        return try Scan(bridge.fetch(request))
    }

    /// The key of the one tombstone that a delta brings, in the order of its paths.
    private func key(_ tombstone: String, paths: [String]) throws -> [String?] {
        let scan = try scan(tombstone, paths: paths)
        #expect(scan.records.isEmpty)
        let deleted = try #require(scan.pages.flatMap(\.deleted).first)
        return paths.map { path in
            let names = path.split(separator: ".").map(String.init)
            return names.dropLast().reduce(deleted as BridgeOptions?) { $0?.object($1) }?.string(names[names.count - 1])
        }
    }

    @Test(arguments: [
        (#"{"@removed":{"reason":"deleted"},"id":7}"#, "7"),
        (#"{"@removed":{"reason":"deleted"},"@id":"https://h.example/svc/Users(7)"}"#, "7"),
        (#"{"@removed":{"reason":"changed"},"@odata.id":"Users(id=7)"}"#, "7"),
        (
            #"{"@odata.context":"$metadata#Users/$deletedEntity","id":"Users('O''Neil/x')","reason":"deleted"}"#,
            "O'Neil/x"
        ),
        (
            ##"{"@odata.context":"#Users/$deletedEntity","id":"https://h.example/Users(%27O%27%27Neil%20%C3%A9%27)"}"##,
            "O'Neil é"
        ),
        (#"{"@removed":{},"@id":"https://h.example/svc/Users/ANTON"}"#, "ANTON"),
        (#"{"@removed":{},"@id":"Users(guid'8ff4-1')"}"#, "8ff4-1"),
        (#"{"@removed":{},"@id":"Users(8ff4-1)"}"#, "8ff4-1"),
        (#"{"@removed":{},"@id":"Users('007')"}"#, "007"), (#"{"@removed":{},"@id":"Users(007)"}"#, "007"),
    ])
    func `the key is read from the entity's id`(tombstone: String, expected: String) throws {
        #expect(try key(tombstone, paths: ["id"]) == [expected])
    }

    @Test func `a compound key is read by its names, and one of another shape is none`() throws {
        let tombstone = #"{"@removed":{},"@id":"Orders(Item='a,b=(c)',OrderID=3)"}"#
        #expect(try key(tombstone, paths: ["OrderID", "Item"]) == ["3", "a,b=(c)"])
        #expect(try key(tombstone, paths: ["OrderID"]) == [nil])
        #expect(try key(tombstone, paths: ["OrderID", "Line"]) == [nil, nil])
        // MS Graph and others have the key itself there.
        #expect(try key(#"{"@removed":{"reason":"changed"},"id":"Users(7)"}"#, paths: ["id"]) == ["Users(7)"])
        #expect(try key(#"{"@removed":{},"id":"Users('x')"}"#, paths: ["info.code"]) == ["x"])
    }

    @Test func `an object that comes back after its tombstone is not deleted`() throws {
        let entries =
            #"{"id":1,"n":"a"},{"id":1,"@removed":{}},{"@id":"Users(2)","@removed":{}},{"id":3,"@removed":{}},"#
            + #"{"id":2,"n":"new"},{"id":3,"n":"new"},{"id":3,"@removed":{}}"#
        let scan = try scan(entries, paths: ["id"])
        #expect(scan.ids == [1, 2, 3])
        #expect(scan.pages.count == 1)
        #expect(scan.pages.flatMap(\.deleted).map { $0.string("id") } == ["1", "3"])
    }

    @Test func `without a known key a record follows the tombstones before it in the next batch`() throws {
        let scan = try scan(
            #"{"id":1,"n":"a"},{"id":2,"@removed":{}},{"id":2,"n":"b"},{"id":3,"n":"c"},{"id":1,"@removed":{}}"#,
            paths: [])
        #expect(scan.ids == [1, 2, 3])
        #expect(scan.pages.map { $0.deleted.map { $0.string("id") } } == [["2"], ["1"]])
        #expect(scan.pages.map(\.isPageEnd) == [false, true])
    }
}
