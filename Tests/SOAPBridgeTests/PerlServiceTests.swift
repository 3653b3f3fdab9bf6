import BridgeKit
import RecordBatch
import TestSupport
import Testing

@testable import SOAPBridge

/// Against SOAP::Lite, Perl's SOAP stack: SOAP encoding with generated names, and types on each value.
@Suite struct PerlServiceTests {
    private let server: RemoteServer

    init() async throws {
        server = try await RemoteServer(["perl", RemoteServer.script("soap-lite.pl")])
        try server.folder.write(Self.wsdl.replacing("@PORT@", with: "\(server.port)"), to: "s.wsdl")
    }

    private static let wsdl: String = {
        let body =
            #"<soap:body use="encoded" namespace="urn:catalog" encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"/>"#
        let names = ["listItems", "getItem", "addItem"]
        return #"""
            <definitions name="Catalog" targetNamespace="urn:catalog" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:catalog"
                xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:soapenc="http://schemas.xmlsoap.org/soap/encoding/"
                xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
              <types><xsd:schema targetNamespace="urn:catalog">
                <xsd:import namespace="http://schemas.xmlsoap.org/soap/encoding/"/>
                <xsd:complexType name="Owner"><xsd:sequence><xsd:element name="name" type="xsd:string"/></xsd:sequence></xsd:complexType>
                <xsd:complexType name="Item"><xsd:sequence><xsd:element name="id" type="xsd:int"/><xsd:element name="name" type="xsd:string"/>
                  <xsd:element name="price" type="xsd:decimal"/><xsd:element name="note" type="xsd:string" nillable="true"/>
                  <xsd:element name="tags" type="t:Strings"/><xsd:element name="owner" type="t:Owner"/></xsd:sequence></xsd:complexType>
                <xsd:complexType name="Strings"><xsd:complexContent><xsd:restriction base="soapenc:Array">
                  <xsd:attribute ref="soapenc:arrayType" wsdl:arrayType="xsd:string[]"/></xsd:restriction></xsd:complexContent></xsd:complexType>
                <xsd:complexType name="Items"><xsd:complexContent><xsd:restriction base="soapenc:Array">
                  <xsd:attribute ref="soapenc:arrayType" wsdl:arrayType="t:Item[]"/></xsd:restriction></xsd:complexContent></xsd:complexType>
              </xsd:schema></types>
              <message name="listItemsIn"><part name="offset" type="xsd:int"/><part name="limit" type="xsd:int"/></message>
              <message name="listItemsOut"><part name="items" type="t:Items"/></message>
              <message name="getItemIn"><part name="id" type="xsd:int"/></message>
              <message name="getItemOut"><part name="item" type="t:Item"/></message>
              <message name="addItemIn"><part name="item" type="t:Item"/></message>
              <message name="addItemOut"><part name="item" type="t:Item"/></message>
            """#
                + #"<portType name="P">"#
                + names.map {
                    #"<operation name="\#($0)"><input message="t:\#($0)In"/><output message="t:\#($0)Out"/></operation>"#
                }.joined()
                + #"</portType><binding name="B" type="t:P"><soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/>"#
                + names.map {
                    #"<operation name="\#($0)"><soap:operation soapAction="urn:catalog#\#($0)"/><input>\#(body)</input><output>\#(body)</output></operation>"#
                }.joined()
                + #"</binding><service name="Catalog"><port name="P" binding="t:B"><soap:address location="http://127.0.0.1:@PORT@/"/></port></service></definitions>"#
    }()

    private var options: Literal {
        [
            "wsdl": .text(server.folder.appending("s.wsdl")),
            "faults": .array([["detail": "UnknownItem", "action": "not_found"]]),
        ]
    }

    /// The keys of Perl's hashes come in any order.
    private func parts(_ record: String) -> [String] {
        record.dropFirst().dropLast().split(separator: ",").map(String.init).sorted()
    }

    private func expected(_ id: Int) -> String {
        let tags = (0..<id % 3).map { "\"t\($0 + 1)\"" }.joined(separator: ",")
        return
            #"{"id":\#(id),"name":"Item & <\#(id)>","note":\#(id % 2 == 1 ? "null" : "\"n\(id)\""),"owner":{"name":"Ann"},"price":\#(id).5,"tags":[\#(tags)]}"#
    }

    @Test func `an array of hashes is scanned page by page, typed by the WSDL`() throws {
        let scan = try Scan.run(
            options,
            [
                "operation": "listItems", "records": "listItemsResponse/items",
                "paging": ["style": "offset", "offset_element": "offset", "limit_element": "limit", "size": 1000],
            ])
        #expect(scan.records.map(parts) == (0..<2345).map { parts(expected($0)) })
        let warnings = try #require(scan.pages.last?.warnings)
        let end = "nothing counts as deleted: name paging.total"
        #expect(warnings.count == 1 && warnings[0].hasSuffix(end))
    }

    @Test func `one object is got, and a fault with a detail is what a rule makes of it`() throws {
        func get(_ id: Int) throws -> [String] {
            try Scan.run(
                options,
                ["operation": "getItem", "records": "getItemResponse/item", "input": ["id": .integer(Int64(id))]]
            ).records
        }
        #expect(try get(17).map(parts) == [parts(expected(17))])
        let error = try bridgeError { _ = try get(5000) }
        #expect(error.code == .notFound)
        #expect(error.remote?.hasPrefix("Client.NotFound: no such item; detail: id: 5000") == true)
    }

    @Test func `an object is created in SOAP encoding`() throws {
        let bridge = try SOAPBridge(options: options.options, context: BridgeContext())
        let section: Literal = [
            "operation": "listItems", "records": "listItemsResponse/items",
            "write": ["create": ["operation": "addItem", "values": "item"]],
        ]
        let writer = RecordBatchWriter()
        try bridge.write(
            WriteRequest(
                .create, entity: "Item", section: section.options,
                values: (["name": "n & <b>", "price": "1.1", "tags": .array(["x", "y"])] as Literal).options),
            into: writer)
        let batch = try writer.finish()
        try #require(batch.count == 1)
        #expect(
            // SOAP::Lite names the type in a namespace of its own.
            parts(batch[0].json.replacing(/\{[^}"]+\}Item/, with: "Item"))
                == parts(
                    #"{"@xsi:type":"Item","id":9999,"name":"n & <b>","note":null,"price":1.1,"tags":["x","y"]}"#
                ),
            "\(batch[0].json)")
    }
}
