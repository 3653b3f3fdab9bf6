import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Replies that are read while they arrive: the same reply has the same batches, however its bytes arrive.
    @Suite struct ArrivingPieceTests {
        private let place: RemoteWorkspace<RemoteServer>
        private static let count = 40_000

        init() throws {
            let server = try RemoteServer(blocking: ["python3", "-u", "-B", RemoteServer.script("pieces.py"), "."])
            place = try RemoteWorkspace(of: server)
            let numbers = 1...Self.count
            try write(numbers.map { "{\"id\": \($0), \"name\": \"line \($0)\"}\n" }.joined(), "lines.ndjson")
            try write("id,name\n" + numbers.map { "\($0),row \($0)\n" }.joined(), "rows.csv")
            let records = numbers.map { "<row><id>\($0)</id><name>element \($0)</name></row>" }
            try write(Self.envelope(records.joined()), "reply.xml")
            try write(Self.wsdl(server.url), "rows.wsdl")
            try place.folder.write(
                """
                version: 1
                database: rows.sqlite
                bridges:
                  api: {plugin: rest, options: {url: "\(server.url)"}}
                  service: {plugin: soap, options: {wsdl: "\(server.url)/rows.wsdl", wsdl_cache: ""}}
                entities:
                  Line: {bridge: api, key: id, attributes: {id: integer, name: text}, rest: {path: /lines.ndjson}}
                  Row: {bridge: api, key: id, attributes: {id: integer, name: text}, rest: {path: /rows.csv, format: csv}}
                  Element:
                    bridge: service
                    key: id
                    attributes: {id: integer, name: text}
                    soap: {operation: ListRows, records: ListRowsResponse/row}
                """, to: "bmo.yml")
        }

        private func write(_ text: String, _ name: String) throws {
            try text.write(toFile: place.server.folder.appending(name), atomically: true, encoding: .utf8)
        }

        private static func envelope(_ content: String) -> String {
            """
            <s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><ListRowsResponse xmlns="urn:rows">
            \(content)</ListRowsResponse></s:Body></s:Envelope>
            """
        }

        private static func wsdl(_ url: String) -> String {
            """
            <definitions name="Rows" targetNamespace="urn:rows" xmlns="http://schemas.xmlsoap.org/wsdl/"
                xmlns:t="urn:rows" xmlns:xs="http://www.w3.org/2001/XMLSchema"
                xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
              <types><xs:schema targetNamespace="urn:rows" elementFormDefault="qualified">
                <xs:complexType name="Row"><xs:sequence>
                  <xs:element name="id" type="xs:int"/><xs:element name="name" type="xs:string"/>
                </xs:sequence></xs:complexType>
                <xs:element name="ListRows"><xs:complexType><xs:sequence/></xs:complexType></xs:element>
                <xs:element name="ListRowsResponse"><xs:complexType><xs:sequence>
                  <xs:element name="row" type="t:Row" minOccurs="0" maxOccurs="unbounded"/>
                </xs:sequence></xs:complexType></xs:element>
              </xs:schema></types>
              <message name="In"><part name="parameters" element="t:ListRows"/></message>
              <message name="Out"><part name="parameters" element="t:ListRowsResponse"/></message>
              <portType name="Rows"><operation name="ListRows">
                <input message="t:In"/><output message="t:Out"/></operation></portType>
              <binding name="Rows" type="t:Rows"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
                <operation name="ListRows"><soap:operation soapAction=""/>
                  <input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation></binding>
              <service name="Rows"><port name="Rows" binding="t:Rows">
                <soap:address location="\(url)/reply.xml"/></port></service>
            </definitions>
            """
        }

        @Test func `their batches are recognised`() async throws {
            let cache = ["XDG_CACHE_HOME": place.folder.appending("cache")]
            let first = try await place.bmo("sync", environment: cache)
            #expect(first.exitCode == 0, "\(first)")
            for _ in 0..<3 {
                let again = try await place.bmo("sync", "--verbose", environment: cache)
                for entity in ["Line", "Row", "Element"] {
                    let words = "\(entity): \(Self.count) of \(Self.count) records came in the same bytes"
                    #expect(again.allOutput.contains(words), "\(again)")
                }
            }
            for entity in ["Line", "Row", "Element"] {
                let sums = try await place.query(
                    "SELECT count(*), sum(id), count(DISTINCT name) FROM \(entity)",
                    in: place.folder.appending("rows.sqlite"))
                #expect(sums == "\(Self.count)|\(Self.count * (Self.count + 1) / 2)|\(Self.count)")
            }
        }
    }
}
