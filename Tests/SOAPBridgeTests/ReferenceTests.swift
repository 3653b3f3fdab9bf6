import BridgeKit
import Foundation
import TestSupport
import Testing

@testable import SOAPBridge

/// Where a WSDL's imports may lead.
@Suite struct ReferenceTests {
    private func wsdl(_ location: String) -> String {
        Samples.wsdl(schemas: "<xs:schema><xs:import namespace=\"urn:x\" schemaLocation=\"\(location)\"/></xs:schema>")
    }

    private let schema = """
        <schema xmlns="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:x"><element name="found" type="int"/></schema>
        """

    private func load(
        _ documents: [String: String], first: String = "http://a.example/svc?wsdl", hosts: Set<String> = []
    ) throws -> (isFound: Bool, notes: [String], asked: [String]) {
        var asked: [String] = []
        let definition = try WSDLReader.load(try #require(DocumentLocation(first)), allowedHosts: hosts) { location in
            asked.append(location.description)
            guard let text = documents[location.description] else { throw BridgeError(.notFound, "no such document") }
            return Array(text.utf8)
        }
        return (definition.schemas.elements[QName("urn:x", "found")] != nil, definition.notes, asked)
    }

    @Test func `another host is asked only where the config allows it`() throws {
        let documents = [
            "http://a.example/svc?wsdl": wsdl("https://b.example/x.xsd"), "https://b.example/x.xsd": schema,
        ]
        let refused = try load(documents)
        #expect(!refused.isFound)
        #expect(refused.asked == ["http://a.example/svc?wsdl"])
        #expect(refused.notes.count == 1)
        #expect(refused.notes[0].contains("import_hosts"))
        let allowed = try load(documents, hosts: ["b.example"])
        #expect(allowed.isFound && allowed.notes == [])
    }

    @Test func `a service that names itself by an inner host is asked where it is`() throws {
        let result = try load([
            "http://a.example/svc?wsdl": wsdl("http://inner:8080/svc?xsd=1"), "http://a.example/svc?xsd=1": schema,
        ])
        #expect(result.isFound && result.notes == [])
    }

    @Test func `a folder that was downloaded is read as it lies`() throws {
        for reference in [
            "http://far.example/a/b/x%20y.xsd", "file:///C:/wsdls/x y.xsd", #"C:\wsdls\x y.xsd"#, #".\x y.xsd"#,
            "x%20y.xsd",
        ] {
            let result = try load(
                ["/home/me/s.wsdl": wsdl(reference), "/home/me/x y.xsd": schema], first: "/home/me/s.wsdl")
            #expect(result.isFound, "\(reference): \(result.notes)")
        }
        let gone = try load(["/home/me/s.wsdl": wsdl("file:///etc/passwd")], first: "/home/me/s.wsdl")
        #expect(gone.asked == ["/home/me/s.wsdl", "/home/me/passwd"])
        #expect(gone.notes.count == 1)
    }

    @Test func `an import that is not a schema is left out`() throws {
        for text in ["<html><body/></html>", "not XML", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "<other/>"] {
            let result = try load(["http://a.example/svc?wsdl": wsdl("x.xsd"), "http://a.example/x.xsd": text])
            #expect(!result.isFound)
            #expect(result.notes.count == 1, "\(result.notes)")
        }
    }

    @Test func `a schema without a namespace that is imported under one gets it`() throws {
        let bare = schema.replacing(#" targetNamespace="urn:x""#, with: "")
        #expect(try load(["http://a.example/svc?wsdl": wsdl("x.xsd"), "http://a.example/x.xsd": bare]).isFound)
    }

    @Test func `a fault of the network while reading an import is an error`() throws {
        let first = try #require(DocumentLocation("http://a.example/s.wsdl"))
        let error = try bridgeError {
            _ = try WSDLReader.load(first) { location in
                guard location == first else { throw BridgeError(.timeout, "no answer") }
                return Array(wsdl("x.xsd").utf8)
            }
        }
        #expect(error.code == .timeout)
    }

    @Test func `a WSDL without a service offers its bindings at the endpoint of the config`() throws {
        let text = Samples.wsdl(schemas: "")
        let start = try #require(text.firstRange(of: "<service")).lowerBound
        let end = try #require(text.firstRange(of: "</service>")).upperBound
        let definition = try Samples.load([
            "http://a.example/s.wsdl": text.replacingCharacters(in: start..<end, with: "")
        ])
        #expect(definition.services[0].ports.map(\.name) == ["B11", "B12"])
        #expect(definition.services[0].ports[0].operations.count == 4)
        #expect(definition.notes.count == 1)
    }

    @Test func `overloaded operations are distinguished by the names of their inputs`() throws {
        let definition = try Samples.load([
            "http://a.example/s.wsdl": """
            <definitions targetNamespace="urn:o" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:o"
                xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
              <message name="A"><part name="a" type="xs:int"/></message><message name="B"><part name="b" type="xs:int"/></message>
              <message name="O"/>
              <portType name="P"><operation name="get"><input name="byA" message="t:A"/><output message="t:O"/></operation>
                <operation name="get"><input name="byB" message="t:B"/><output message="t:O"/></operation></portType>
              <binding name="X" type="t:P"><soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/>
                <operation name="get"><soap:operation soapAction="a"/><input name="byA"><soap:body use="literal"/></input></operation>
                <operation name="get"><soap:operation soapAction="b"/><input name="byB"><soap:body use="literal"/></input></operation>
              </binding>
              <service name="S"><port name="J" binding="t:X"><soap:address location="jms:queue"/></port>
                <port name="H" binding="t:X"><soap:address location="http://127.0.0.1/"/></port></service>
            </definitions>
            """
        ])
        let port = try definition.port(service: nil, port: nil, version: nil).1
        #expect(port.name == "H")
        #expect(port.operations.map(\.name) == ["get", "get:byB"])
        #expect(port.operations.map(\.action) == ["a", "b"])
        #expect(port.operations.map { $0.input.elements[0].name.local } == ["get", "get"])
    }

    @Test(arguments: [([] as [String], false), (["localhost"], true)])
    func `an import that redirects to another host is fetched only where the config allows the host`(
        hosts: [String], isRead: Bool
    ) async throws {
        let server = try await RemoteServer.python("redirected-import.py")
        let options: Literal = [
            "wsdl": .text(server.url + "/service?wsdl"), "wsdl_cache": "",
            "import_hosts": .array(hosts.map { .text($0) }),
        ]
        let bridge = try SOAPBridge(options: options.options, context: BridgeContext())
        _ = try? bridge.check()
        let asked = try String(contentsOfFile: server.folder.appending("asked"), encoding: .utf8)
        #expect(asked.contains("/moved.xsd"))
        #expect(asked.contains("localhost:\(server.port)/real.xsd") == isRead, "\(asked)")
    }
}
