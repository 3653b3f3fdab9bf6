import BridgeKit
import RecordBatch
import Testing
import TestSupport

@testable import SOAPBridge

/// WSDLs and replies for tests.
enum Samples {
    /// A WSDL around `schemas` (inside wsdl:types), with the operations List (wrapped), Echo (rpc) and Old (encoded).
    static func wsdl(schemas: String, imports: String = "", form: String = "qualified") -> String {
        """
        <?xml version="1.0"?>
        <definitions name="S" targetNamespace="urn:s" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:s"
            xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
            xmlns:soap12="http://schemas.xmlsoap.org/wsdl/soap12/">
          \(imports)
          <types>
            <xs:schema targetNamespace="urn:s" elementFormDefault="\(form)">
              <xs:element name="List"><xs:complexType><xs:sequence>
                <xs:element name="filter" type="t:Filter" minOccurs="0"/>
                <xs:element name="offset" type="xs:int"/>
                <xs:element name="limit" type="xs:int" minOccurs="0"/>
                <xs:element name="tag" type="xs:string" minOccurs="0" maxOccurs="unbounded"/>
              </xs:sequence></xs:complexType></xs:element>
              <xs:complexType name="Filter"><xs:sequence>
                <xs:element name="name" type="xs:string" nillable="true"/>
              </xs:sequence><xs:attribute name="lang" type="xs:string"/></xs:complexType>
              <xs:element name="ListResponse"><xs:complexType><xs:sequence>
                <xs:element name="total" type="xs:int"/>
                <xs:element name="items"><xs:complexType><xs:sequence>
                  <xs:element name="item" type="t:Item" minOccurs="0" maxOccurs="unbounded"/>
                </xs:sequence><xs:attribute name="count" type="xs:int"/></xs:complexType></xs:element>
              </xs:sequence></xs:complexType></xs:element>
              <xs:simpleType name="Percent"><xs:restriction base="xs:decimal"/></xs:simpleType>
              <xs:complexType name="Thing"><xs:sequence><xs:element name="id" type="xs:int"/></xs:sequence></xs:complexType>
              <xs:complexType name="Money"><xs:simpleContent><xs:extension base="xs:decimal">
                <xs:attribute name="currency" type="xs:string"/></xs:extension></xs:simpleContent></xs:complexType>
              <xs:complexType name="Item"><xs:complexContent><xs:extension base="t:Thing"><xs:sequence>
                <xs:element name="name" type="xs:string" nillable="true"/>
                <xs:element name="price" type="t:Money" minOccurs="0"/>
                <xs:element name="share" type="t:Percent" minOccurs="0"/>
                <xs:element name="active" type="xs:boolean" minOccurs="0"/>
                <xs:element name="weight" type="xs:double" minOccurs="0"/>
                <xs:element name="image" type="xs:base64Binary" minOccurs="0"/>
                <xs:element name="when" type="xs:dateTime" minOccurs="0"/>
                <xs:element name="big" type="xs:unsignedLong" minOccurs="0"/>
                <xs:element name="tag" type="xs:string" minOccurs="0" maxOccurs="unbounded"/>
                <xs:element name="child" type="t:Item" minOccurs="0" maxOccurs="unbounded"/>
                <xs:any minOccurs="0" processContents="lax"/>
              </xs:sequence></xs:extension></xs:complexContent></xs:complexType>
            </xs:schema>
            \(schemas)
          </types>
          <message name="ListIn"><part name="parameters" element="t:List"/></message>
          <message name="ListOut"><part name="parameters" element="t:ListResponse"/></message>
          <message name="EchoIn"><part name="text" type="xs:string"/><part name="count" type="xs:int"/></message>
          <message name="EchoOut"><part name="result" type="t:Item"/></message>
          <portType name="P">
            <operation name="List"><input message="t:ListIn"/><output message="t:ListOut"/></operation>
            <operation name="Echo"><input message="t:EchoIn"/><output message="t:EchoOut"/></operation>
            <operation name="Old"><input message="t:EchoIn"/><output message="t:EchoOut"/></operation>
            <operation name="Send"><input message="t:EchoIn"/></operation>
          </portType>
          <binding name="B11" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
            <operation name="List"><soap:operation soapAction="urn:s/List"/>
              <input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation>
            <operation name="Echo"><soap:operation soapAction="" style="rpc"/>
              <input><soap:body use="literal" namespace="urn:rpc"/></input>
              <output><soap:body use="literal" namespace="urn:rpc"/></output></operation>
            <operation name="Old"><soap:operation soapAction="" style="rpc"/>
              <input><soap:body use="encoded" namespace="urn:rpc"/></input>
              <output><soap:body use="encoded" namespace="urn:rpc"/></output></operation>
            <operation name="Send"><soap:operation soapAction="" style="rpc"/>
              <input><soap:body use="literal" namespace="urn:rpc"/></input></operation>
          </binding>
          <binding name="B12" type="t:P"><soap12:binding transport="http://schemas.xmlsoap.org/soap/http"/>
            <operation name="List"><soap12:operation soapAction="urn:s/List"/>
              <input><soap12:body use="literal"/></input><output><soap12:body use="literal"/></output></operation>
          </binding>
          <service name="Shop">
            <port name="ShopSOAP" binding="t:B11"><soap:address location="http://127.0.0.1/shop?a=1&amp;b=2"/></port>
            <port name="ShopSOAP12" binding="t:B12"><soap12:address location="http://127.0.0.1/shop"/></port>
          </service>
        </definitions>
        """
    }

    /// Reads documents that lie in a dictionary by path.
    static func load(_ documents: [String: String], _ first: String = "http://a.example/s.wsdl") throws
        -> WSDLDefinition
    {
        let location = try #require(DocumentLocation(first))
        return try WSDLReader.load(location) { location in
            guard let text = documents[location.description] else {
                throw BridgeError(.notFound, "no such document", location: "\(location)")
            }
            return Array(text.utf8)
        }
    }

    static func load(schemas: String = "", form: String = "qualified") throws -> WSDLDefinition {
        try load(["http://a.example/s.wsdl": wsdl(schemas: schemas, form: form)])
    }

    /// A whole reply around the body's content.
    static func envelope(_ body: String, namespace: String = "http://schemas.xmlsoap.org/soap/envelope/") -> String {
        "<?xml version=\"1.0\"?>\n<e:Envelope xmlns:e=\"\(namespace)\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
            + "xmlns:xs=\"http://www.w3.org/2001/XMLSchema\"><e:Header><x>1</x></e:Header><e:Body>\(body)</e:Body></e:Envelope>"
    }

    /// A reply of the operation List.
    static func list(_ items: String, total: String = "7") -> String {
        envelope(
            "<n:ListResponse xmlns:n=\"urn:s\"><n:total> \(total)</n:total><n:items count=\"9\">\(items)</n:items></n:ListResponse>"
        )
    }

    static func plan(
        _ definition: WSDLDefinition, operation: String = "List", records: String = "ListResponse/items/item",
        total: String = "ListResponse/total"
    ) throws -> ReplyPlan {
        let port = try definition.port(service: nil, port: nil, version: nil).1
        return try ReplyPlan(
            operation: try port.operation(operation), schemas: definition.schemas,
            records: try #require(SOAPSection.path(records)), total: SOAPSection.path(total) ?? [])
    }

    /// What a reader says of a reply that comes in pieces of `size` bytes.
    struct Outcome {
        var records: [String]
        var reader: ReplyReader
        var error: BridgeError?
    }

    static func read(
        _ reply: String, _ plan: ReplyPlan, piece size: Int = .max, contentType: String? = nil
    ) throws -> Outcome {
        let reader = try ReplyReader(plan: plan, contentType: contentType)
        let writer = RecordBatchWriter()
        var failure: BridgeError?
        do {
            var rest = Array(reply.utf8)[...]
            while !rest.isEmpty {
                try reader.feed(rest.prefix(size), into: writer)
                rest = rest.dropFirst(min(size, rest.count))
            }
            try reader.finish()
            while reader.hasPending { try reader.drain(into: writer, limit: 10, bytes: .max) }
        } catch {
            failure = error
            writer.abandonRecord()
        }
        let batch = try writer.finish()
        return Outcome(records: (0..<batch.count).map { batch[$0].json }, reader: reader, error: failure)
    }
}
