import BridgeKit
import RecordBatch
import TestSupport
import Testing

@testable import SOAPBridge

/// Against soap4r, Ruby's SOAP stack: SOAP encoding with typed structures, and references to what stands below.
@Suite struct RubyServiceTests {
    private let server: RemoteServer

    init() async throws {
        server = try await RemoteServer(["ruby", RemoteServer.script("soap4r.rb")])
        try server.folder.write(Self.wsdl.replacing("@PORT@", with: "\(server.port)"), to: "s.wsdl")
    }

    private static let wsdl: String = {
        let body =
            #"<soap:body use="encoded" namespace="urn:catalog" encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"/>"#
        let operations = [
            ("listItems", #"<part name="offset" type="xsd:int"/><part name="limit" type="xsd:int"/>"#, "t:Page"),
            ("getItem", #"<part name="id" type="xsd:int"/>"#, "t:Item"),
            ("addItem", #"<part name="item" type="t:Item"/>"#, "t:Item"),
            ("deleteItem", #"<part name="id" type="xsd:int"/>"#, "xsd:boolean"),
        ]
        func each(_ body: ((String, String, String)) -> String) -> String {
            operations.map(body).joined(separator: "\n")
        }
        return #"""
            <definitions name="Catalog" targetNamespace="urn:catalog" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:catalog"
                xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:soapenc="http://schemas.xmlsoap.org/soap/encoding/"
                xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
              <types><xsd:schema targetNamespace="urn:catalog">
                <xsd:complexType name="Item"><xsd:all><xsd:element name="id" type="xsd:int"/><xsd:element name="name" type="xsd:string"/>
                  <xsd:element name="price" type="xsd:double"/><xsd:element name="note" type="xsd:string" nillable="true"/></xsd:all></xsd:complexType>
                <xsd:complexType name="Page"><xsd:all><xsd:element name="total" type="xsd:int"/>
                  <xsd:element name="items" type="t:Items"/></xsd:all></xsd:complexType>
                <xsd:complexType name="Items"><xsd:complexContent><xsd:restriction base="soapenc:Array">
                  <xsd:attribute ref="soapenc:arrayType" wsdl:arrayType="t:Item[]"/></xsd:restriction></xsd:complexContent></xsd:complexType>
              </xsd:schema></types>
              \#(each { #"<message name="\#($0.0)In">\#($0.1)</message><message name="\#($0.0)Out"><part name="return" type="\#($0.2)"/></message>"# })
              <portType name="P">\#(each {
                #"<operation name="\#($0.0)"><input message="t:\#($0.0)In"/><output message="t:\#($0.0)Out"/></operation>"# })</portType>
              <binding name="B" type="t:P"><soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/>\#(each {
                #"<operation name="\#($0.0)"><soap:operation soapAction=""/><input>\#(body)</input><output>\#(body)</output></operation>"# })</binding>
              <service name="Catalog"><port name="P" binding="t:B"><soap:address location="http://127.0.0.1:@PORT@/"/></port></service>
            </definitions>
            """#
    }()

    private var options: Literal {
        [
            "wsdl": .text(server.folder.appending("s.wsdl")),
            "faults": .array([["reason": "no such item", "action": "not_found"]]),
        ]
    }

    private static let listing: Literal = [
        "operation": "listItems", "records": "return/items/item",
        "paging": [
            "style": "offset", "offset_element": "offset", "limit_element": "limit", "size": 1000,
            "total": "return/total",
        ],
        "write": [
            "create": ["operation": "addItem", "values": "item"], "delete": ["operation": "deleteItem", "key": "id"],
        ],
    ]

    private func expected(_ id: Int, name: String? = nil) -> String {
        let note = id % 2 == 1 ? "null" : "\"n\(id)\""
        return
            #"{"@xsi:type":"{urn:catalog}Item","id":\#(id),"name":"\#(name ?? "Item & <\(id)> é")","price":\#(id).5,"note":\#(note)}"#
    }

    private func get(_ id: Int) throws -> [String] {
        try Scan.run(options, ["operation": "getItem", "records": "return", "input": ["id": .integer(Int64(id))]])
            .records
    }

    @Test func `an array in an object is scanned page by page to its total`() throws {
        let scan = try Scan.run(options, Self.listing)
        #expect(scan.records == (0..<2345).map { expected($0) })
        #expect(scan.pages.last?.isComplete == true)
        #expect(scan.pages.flatMap(\.warnings) == [])
    }

    @Test func `one object is got, and what was raised is a fault with its words`() throws {
        #expect(try get(16) == [expected(16)])
        let error = try bridgeError { _ = try get(9999) }
        #expect(error.code == .notFound, "\(error)")
        #expect(error.remote?.contains("no such item") == true, "\(error)")
    }

    @Test func `an object is created and deleted`() throws {
        let bridge = try SOAPBridge(options: options.options, context: BridgeContext())
        func write(_ operation: WriteRequest.Operation, key: Literal = [:], values: Literal = [:]) throws
            -> [String]
        {
            let writer = RecordBatchWriter()
            try bridge.write(
                WriteRequest(
                    operation, entity: "Item", section: Self.listing.options, key: key.options, values: values.options),
                into: writer)
            let batch = try writer.finish()
            return (0..<batch.count).map { batch[$0].json }
        }
        #expect(
            try write(.create, values: ["name": "n & <b>", "price": "1.25", "note": .null])
                == [#"{"@xsi:type":"{urn:catalog}Item","id":2345,"name":"n & <b>","price":1.25,"note":null}"#])
        _ = try write(.delete, key: ["id": 2345])
        #expect(try bridgeError { _ = try get(2345) }.code == .notFound)
    }
}
