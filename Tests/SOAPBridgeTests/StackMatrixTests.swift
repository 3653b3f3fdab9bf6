import BridgeKit
import Foundation
import RecordBatch
import TestSupport
import Testing

@testable import SOAPBridge

/// A stack of others in a version of SOAP.
enum Stack: String, CaseIterable, CustomTestStringConvertible {
    case php11, php12, spyne11, spyne12

    var testDescription: String { rawValue }
    var isPHP: Bool { self == .php11 || self == .php12 }
    var isOld: Bool { self == .php11 || self == .spyne11 }

    func start() async throws -> RemoteServer {
        isPHP ? try await .soap("catalog.php", "catalog.wsdl") : try await .spyne("spyne-catalog.py")
    }

    func options(_ server: RemoteServer, key: String = "sesame") -> Literal {
        let version = isOld ? "11" : "12"
        return
            ([
                "wsdl": .text(isPHP ? "\(server.url)/service?wsdl" : "\(server.url)/v\(version)/?wsdl"),
                "wsdl_cache": "",
                "soap_headers": ["Login": ["user": "u", "key": .text(key)]],
                "faults": .array([
                    ["detail": "UnknownItem", "action": "not_found"],
                    ["detail": "Refused", "action": "authentication"],
                ]),
            ] as Literal).adding(isPHP ? ["port": .text("Catalog\(version)")] : [:])
    }

    func section(write: Literal = [:]) -> Literal {
        let page = isPHP ? "ListItemsResponse" : "ListItemsResponse/ListItemsResult"
        return [
            "operation": "ListItems", "records": .text(isPHP ? "\(page)/items/item" : "\(page)/items"),
            "paging": [
                "style": "offset", "offset_element": "offset", "limit_element": "limit", "size": 2500,
                "total": .text("\(page)/total"),
            ],
            "write": write,
        ]
    }

    func one(_ id: Int) -> Literal { one(.integer(Int64(id))) }

    func one(_ id: Literal) -> Literal {
        [
            "operation": "GetItem", "input": ["id": id],
            "records": .text(isPHP ? "GetItemResponse/item" : "GetItemResponse/GetItemResult"),
        ]
    }

    /// What a record has for a type, whatever prefix the stack gives it.
    func typeName(_ name: String) -> String { "{urn:catalog}\(name)" }
}

/// What has to work on each stack that others wrote, in each version of SOAP: a row of cells for each.
@Suite struct StackMatrixTests {
    private static let rules: Literal = [
        "create": ["operation": "AddItem", "values": "item"],
        "update": ["operation": "UpdateItem", "values": "item", "key": "id"],
        "delete": ["operation": "DeleteItem", "key": "id"],
    ]

    private func expected(_ id: Int, _ stack: Stack) -> String {
        let image = Data([0, 0xFF] + Array("\(id)".utf8)).base64EncodedString()
        let type = id % 3 == 0 ? #""@xsi:type":"\#(stack.typeName("Book"))","# : ""
        let pages = id % 3 == 0 ? #","pages":\#(id * 10)"# : ""
        let note = id % 2 == 1 ? "null" : "\"n\(id)\""
        return
            #"{\#(type)"id":\#(id),"name":"Item & <\#(id)> é","price":\#(id).50,"image":"\#(image)","note":\#(note)\#(pages)}"#
    }

    private func write(
        _ operation: WriteRequest.Operation, _ stack: Stack, _ server: RemoteServer, key: Literal = [:],
        values: Literal = [:], object: Literal = [:], rules: Literal = rules, isReadByKey: Bool = false
    ) throws -> String? {
        let bridge = try SOAPBridge(options: stack.options(server).options, context: BridgeContext())
        let writer = RecordBatchWriter()
        var request = WriteRequest(
            operation, entity: "Item", section: stack.section(write: rules).options, key: key.options,
            values: values.options, object: object.options)
        request.keyPaths = ["id": ["id"]]
        if isReadByKey { request.readOne = stack.one("{parent.id}").options }
        try bridge.write(request, into: writer)
        let batch = try writer.finish()
        return batch.count > 0 ? batch[0].json : nil
    }

    private func got(_ id: Int, _ stack: Stack, _ server: RemoteServer) throws -> [String] {
        try Scan.run(stack.options(server), stack.one(id)).records
    }

    @Test(arguments: Stack.allCases)
    func `list: ten thousand records come page by page, with xsi:type, nil and base64`(stack: Stack) async throws {
        let server = try await stack.start()
        let scan = try Scan.run(stack.options(server), stack.section())
        #expect(scan.records == (0..<10_500).map { expected($0, stack) })
        #expect(scan.pages.filter(\.isPageEnd).count == 5)
        #expect(scan.pages.last?.isComplete == true)
        #expect(scan.pages.flatMap(\.warnings) == [])
    }

    @Test(arguments: Stack.allCases)
    func `get: one object comes by its key`(stack: Stack) async throws {
        let server = try await stack.start()
        #expect(try got(4711, stack, server) == [expected(4711, stack)])
    }

    @Test(arguments: Stack.allCases)
    func `create: the reply has the new key, and the service the object`(stack: Stack) async throws {
        let server = try await stack.start()
        let created = try write(
            .create, stack, server,
            values: ["note": .null, "name": "new & <b>", "price": "10.10", "image": "AP8x"])
        let object = #"{"id":20000,"name":"new & <b>","price":10.10,"image":"AP8x","note":null}"#
        #expect(created == object)
        #expect(try got(20000, stack, server) == [object])
    }

    @Test(arguments: Stack.allCases)
    func `create: an object of a derived type is one on the other side`(stack: Stack) async throws {
        let server = try await stack.start()
        let rules: Literal = [
            "create": ["operation": "AddItem", "values": "item", "input": ["item": ["@xsi:type": "Book"]]]
        ]
        _ = try write(
            .create, stack, server, values: ["name": "b", "price": "1", "note": "n", "pages": 7], rules: rules)
        let object = try #require(try got(20000, stack, server).first)
        #expect(
            object.contains(#""@xsi:type":"\#(stack.typeName("Book"))""#) && object.contains(#""pages":7"#), "\(object)"
        )
    }

    @Test(arguments: Stack.allCases)
    func `update: what changed is sent with the rest of the object`(stack: Stack) async throws {
        let server = try await stack.start()
        let updated = try write(
            .update, stack, server, key: ["id": 5], values: ["price": "3.30"],
            object: ["id": 5, "name": "not theirs", "price": "3.30", "pages": 7])
        #expect(updated == expected(5, stack).replacing("5.50", with: "3.30"))
        #expect(try got(5, stack, server) == [updated])
        let missing = try bridgeError {
            _ = try write(.update, stack, server, key: ["id": 99999], values: ["price": "1"], isReadByKey: true)
        }
        #expect(missing.code == .notFound, "\(missing)")
        let far = try bridgeError { _ = try write(.update, stack, server, key: ["id": 10_400], values: ["price": "1"]) }
        #expect(far.code == .unsupported && far.remedy?.contains("read_one") == true, "\(far)")
    }

    @Test(arguments: Stack.allCases)
    func `update: an object of a derived type stays one, with all its values`(stack: Stack) async throws {
        let server = try await stack.start()
        let updated = try write(
            .update, stack, server, key: ["id": 6], values: ["name": "six"], isReadByKey: true)
        #expect(updated == expected(6, stack).replacing("Item & <6> é", with: "six"))
        #expect(try got(6, stack, server) == [updated])
    }

    @Test(arguments: Stack.allCases)
    func `delete: the object is gone, and a second time does no harm`(stack: Stack) async throws {
        let server = try await stack.start()
        #expect(try write(.delete, stack, server, key: ["id": 6]) == nil)
        let gone = try bridgeError { _ = try got(6, stack, server) }
        #expect(gone.code == .notFound)
        #expect(try write(.delete, stack, server, key: ["id": 6]) == nil)
    }

    @Test(arguments: Stack.allCases)
    func `fault: its typed detail decides what it means, and is reported`(stack: Stack) async throws {
        let server = try await stack.start()
        let error = try bridgeError { _ = try got(77777, stack, server) }
        #expect(error.code == .notFound && !error.isRetryable)
        let code = stack.isOld ? "Client" : "Sender"
        #expect(error.remote?.contains("\(code): no such item; detail: id: 77777") == true, "\(error)")
    }

    @Test(arguments: Stack.allCases)
    func `header: a wrong one is reported, and its secret is not`(stack: Stack) async throws {
        let server = try await stack.start()
        let error = try bridgeError {
            _ = try Scan.run(stack.options(server, key: "not-the-key"), stack.section())
        }
        #expect(error.code == .authentication, "\(error)")
        #expect(error.remote?.contains("who are you?") == true)
        #expect(!"\(error)".contains("not-the-key"))
    }
}
