import BridgeKit
import Foundation
import Testing
import TestSupport

@testable import SOAPBridge

@Suite struct WSDLReaderTests {
    @Test func `services, ports, addresses and actions come from the document`() throws {
        let definition = try Samples.load()
        #expect(definition.services.map(\.name) == ["Shop"])
        #expect(definition.services[0].ports.map(\.name) == ["ShopSOAP", "ShopSOAP12"])
        let port = try definition.port(service: "Shop", port: nil, version: nil).1
        #expect(port.address == "http://127.0.0.1/shop?a=1&b=2")
        #expect(port.version == .v11)
        #expect(try port.operation("List").action == "urn:s/List")
        #expect(try port.operation("List").style == .document)
        #expect(try port.operation("Echo").style == .rpc)
        #expect(try definition.port(service: nil, port: nil, version: .v12).1.name == "ShopSOAP12")
    }

    @Test func `unknown names are listed with the nearest first`() throws {
        let definition = try Samples.load()
        let port = try definition.port(service: nil, port: nil, version: nil).1
        let operation = try bridgeError { _ = try port.operation("Lits") }
        #expect(operation.code == .configuration)
        #expect(operation.remedy == #"its operations: "List", "Echo", "Old", "Send""#)
        let wrongPort = try bridgeError { _ = try definition.port(service: nil, port: "ShopSOAP1", version: nil) }
        #expect(wrongPort.remedy == #"its SOAP ports: "ShopSOAP", "ShopSOAP12""#)
        let service = try bridgeError { _ = try definition.port(service: "Shops", port: nil, version: nil) }
        #expect(service.remedy == #"its services: "Shop""#)
    }

    @Test func `encoded and one-way operations are known`() throws {
        let port = try Samples.load().port(service: nil, port: nil, version: nil).1
        #expect(try port.operation("Old").input.isEncoded)
        #expect(try port.operation("Old").output.isEncoded)
        #expect(try !port.operation("Echo").output.isEncoded)
        #expect(try port.operation("Send").isOneWay)
    }

    @Test func `a type has its base's elements first, and knows what repeats`() throws {
        let schemas = try Samples.load().schemas
        let id = try #require(schemas.typeNames[QName("urn:s", "Item")])
        guard case .complex(let item) = schemas[id] else { throw BridgeError(.internal, "not complex") }
        #expect(item.children.map(\.name.local).prefix(3) == ["id", "name", "price"])
        #expect(item.children.filter(\.isRepeated).map(\.name.local) == ["tag", "child"])
        #expect(item.children.first { $0.name.local == "child" }?.type == id)
        #expect(item.isOpen)
    }

    @Test func `groups, choices, references and redefinition of order resolve`() throws {
        let schemas = try Samples.load(
            schemas: """
                <xs:schema targetNamespace="urn:g" xmlns:g="urn:g" xmlns:xs="http://www.w3.org/2001/XMLSchema">
                  <xs:element name="shared" type="xs:int"/>
                  <xs:group name="Pair"><xs:sequence><xs:element name="a" type="xs:int"/>
                    <xs:element ref="g:shared"/></xs:sequence></xs:group>
                  <xs:attributeGroup name="Marks"><xs:attribute name="mark" type="xs:int"/></xs:attributeGroup>
                  <xs:complexType name="All"><xs:sequence>
                    <xs:group ref="g:Pair" maxOccurs="2"/>
                    <xs:choice><xs:element name="x" type="xs:string"/><xs:sequence>
                      <xs:element name="y" type="xs:string"/><xs:element name="x" type="xs:string"/></xs:sequence></xs:choice>
                    <xs:element name="y" type="xs:string"/>
                    <xs:element name="none" type="xs:string" maxOccurs="0"/>
                    <xs:element name="anonymous"><xs:complexType><xs:complexContent>
                      <xs:extension base="g:All"/></xs:complexContent></xs:complexType></xs:element>
                  </xs:sequence><xs:attributeGroup ref="g:Marks"/></xs:complexType>
                </xs:schema>
                """
        ).schemas
        let id = try #require(schemas.typeNames[QName("urn:g", "All")])
        guard case .complex(let all) = schemas[id] else { throw BridgeError(.internal, "not complex") }
        #expect(all.children.map(\.name.local) == ["a", "shared", "x", "y", "anonymous"])
        #expect(all.children.map(\.name.namespace) == ["", "urn:g", "", "", ""])
        // a and shared through their group; y stands in the choice and after it; x is in both branches of one choice.
        #expect(all.children.map(\.isRepeated) == [true, true, false, true, false])
        #expect(all.attributes.map(\.name) == ["mark"])
    }

    @Test func `a schema spread over relative imports and a chameleon include is one, cycles included`() throws {
        let inner = """
            <xs:schema targetNamespace="urn:other" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:o="urn:other">
              <xs:include schemaLocation="more/chameleon.xsd"/><xs:include schemaLocation="other.xsd"/>
              <xs:import namespace="urn:s" schemaLocation="../s.wsdl"/>
              <xs:element name="thing" type="o:Found"/></xs:schema>
            """
        let chameleon = """
            <xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:include schemaLocation="../other.xsd"/>
              <xs:complexType name="Found"><xs:sequence><xs:element name="in" type="xs:int"/></xs:sequence></xs:complexType>
            </xs:schema>
            """
        let imported = """
            <definitions xmlns="http://schemas.xmlsoap.org/wsdl/" targetNamespace="urn:s"><import location="/s.wsdl"/></definitions>
            """
        let definition = try Samples.load([
            "http://a.example/s.wsdl": Samples.wsdl(
                schemas: """
                    <xs:schema><xs:import namespace="urn:other" schemaLocation="xsd/./other.xsd"/>
                    <xs:import namespace="urn:far" schemaLocation="https://far.example/far.xsd"/>
                    <xs:import namespace="urn:gone" schemaLocation="gone.xsd"/>
                    <xs:import namespace="http://schemas.xmlsoap.org/soap/encoding/"
                        schemaLocation="http://schemas.xmlsoap.org/soap/encoding/"/></xs:schema>
                    """, imports: #"<import namespace="urn:s" location="abstract.wsdl"/>"#),
            "http://a.example/abstract.wsdl": imported, "http://a.example/xsd/other.xsd": inner,
            "http://a.example/xsd/more/chameleon.xsd": chameleon,
        ])
        #expect(definition.schemas.typeNames[QName("urn:other", "Found")] != nil)
        let thing = try #require(definition.schemas.elements[QName("urn:other", "thing")])
        #expect(thing.type == definition.schemas.typeNames[QName("urn:other", "Found")])
        #expect(definition.notes.count == 2, "\(definition.notes)")
        #expect(definition.notes.contains { $0.contains("far.example") })
        #expect(definition.notes.contains { $0.contains("gone.xsd") })
    }

    @Test func `a DOCTYPE is refused`() throws {
        let error = try bridgeError {
            _ = try Samples.load([
                "http://a.example/s.wsdl":
                    "<!DOCTYPE definitions [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><definitions>&x;</definitions>"
            ])
        }
        #expect(error.code == .malformed)
        #expect(error.message.contains("DOCTYPE"))
        #expect(error.location == "http://a.example/s.wsdl")
    }

    @Test(arguments: ["file:///etc/passwd", "FILE:/etc/passwd"])
    func `a WSDL from the network that imports a file is refused`(target: String) throws {
        let error = try bridgeError {
            _ = try Samples.load([
                "http://a.example/s.wsdl": Samples.wsdl(
                    schemas: "<xs:schema><xs:import namespace=\"urn:x\" schemaLocation=\"\(target)\"/></xs:schema>")
            ])
        }
        #expect(error.code == .permission)
        #expect(error.message.contains(target))
    }

    @Test func `imports without an end are cut off`() throws {
        var count = 0
        let first = try #require(DocumentLocation("http://a.example/0.xsd"))
        let error = try bridgeError {
            _ = try WSDLReader.load(first) { _ in
                count += 1
                let text = """
                    <schema xmlns="http://www.w3.org/2001/XMLSchema"><import schemaLocation="\(count).xsd"/></schema>
                    """
                return Array(text.utf8)
            }
        }
        #expect(error.code == .limit)
        #expect(count <= 30)
    }

    @Test func `a giant document is refused`() throws {
        let first = try #require(DocumentLocation("http://a.example/0.xsd"))
        let error = try bridgeError {
            _ = try WSDLReader.load(first) { _ in [UInt8](repeating: 0x20, count: (16 << 20) + 1) }
        }
        #expect(error.code == .limit)
    }

    private func document(prefixes: Int, elements: Int) -> [UInt8] {
        let head = (0..<prefixes).map { " xmlns:z\($0)=\"u\"" }.joined()
        let body = String(repeating: "<annotation xmlns:q=\"v\"/>", count: elements)
        return Array("<schema xmlns=\"http://www.w3.org/2001/XMLSchema\"\(head)>\(body)</schema>".utf8)
    }

    @Test func `so many namespaces may be declared and no more`() throws {
        let error = try bridgeError {
            _ = try XMLElement.parse(document(prefixes: 1_000, elements: 1), subject: "the document")
        }
        #expect(error.code == .limit)
        #expect(error.message.contains("more than 1000 namespaces declared in its scope"), "\(error)")
    }

    @Test func `an element that declares a namespace does not copy those around it`() throws {
        func residentPages() throws -> Int {
            let words = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
            return try #require(Int(words[1]))
        }
        let bytes = document(prefixes: 900, elements: 20_000)
        let before = try residentPages()
        let root = try XMLElement.parse(bytes, subject: "the document")
        // A copy of 900 names and namespaces takes 48 KiB or more: all of them took near a gigabyte.
        #expect((try residentPages() - before) * Int(getpagesize()) < 300 << 20)
        #expect(root.children.count == 20_000)
        #expect(root.children[7].scope.namespace(of: "q") == "v")
        #expect(root.children[7].scope.namespace(of: "z899") == "u")
        #expect(root.children[7].scope.namespace(of: "z900") == nil)
    }

    @Test(
        arguments: [
            // Thirty groups, each of which holds the next one twice.
            (0..<30).map {
                "<xs:group name=\"G\($0)\"><xs:sequence><xs:group ref=\"t:G\($0 + 1)\"/><xs:group ref=\"t:G\($0 + 1)\"/></xs:sequence></xs:group>"
            }
            .joined() + "<xs:complexType name=\"Boom\"><xs:group ref=\"t:G0\"/></xs:complexType>",
            "<xs:group name=\"G\"><xs:sequence><xs:group ref=\"t:G\"/></xs:sequence></xs:group><xs:complexType name=\"Boom\"><xs:group ref=\"t:G\"/></xs:complexType>",
            "<xs:complexType name=\"Boom\"><xs:complexContent><xs:extension base=\"t:Boom\"/></xs:complexContent></xs:complexType>",
        ])
    func `schemas that contain themselves end in a limit`(types: String) throws {
        let error = try bridgeError {
            _ = try Samples.load(schemas: "<xs:schema targetNamespace=\"urn:s\">\(types)</xs:schema>")
        }
        #expect(error.code == .limit)
    }

    @Test(arguments: [
        ("<html><body>Hello</body></html>", "not a WSDL: its root element is <html>"),
        ("<description xmlns=\"http://www.w3.org/ns/wsdl\"/>", "WSDL 2.0"),
        ("<definitions", "not well-formed"),
        ("", "is empty"),
        (String(repeating: "<a>", count: 200), "deeper than 100"),
    ])
    func `a document that is not a WSDL is explained`(text: String, words: String) throws {
        let error = try bridgeError { _ = try Samples.load(["http://a.example/s.wsdl": text]) }
        #expect(error.message.contains(words), "\(error)")
    }

    @Test(arguments: [
        ("http://a.example/x/s.wsdl", "t.xsd", "http://a.example/x/t.xsd"),
        ("http://a.example/x/s.wsdl", "../t.xsd?v=1", "http://a.example/t.xsd?v=1"),
        ("http://a.example/x?wsdl", "?xsd=1", "http://a.example/x?xsd=1"),
        ("http://a.example/x?wsdl", "http://A.example/y", "http://a.example/y"),
        ("http://a.example/x?wsdl", "https://a.example/y", nil),
        ("http://a.example/x?wsdl", "http://b.example/y", nil),
        ("http://a.example/x?wsdl", "//b.example/y", nil),
        ("http://a.example/x", "../../../y", "http://a.example/y"),
        ("/home/s.wsdl", "x/t.xsd", "/home/x/t.xsd"),
        ("/home/s.wsdl", "http://b.example/y", nil),
    ])
    func `references resolve on the same host only`(base: String, reference: String, expected: String?) throws {
        let base = try #require(DocumentLocation(base))
        #expect(base.resolving(reference)?.description == expected)
    }
}
