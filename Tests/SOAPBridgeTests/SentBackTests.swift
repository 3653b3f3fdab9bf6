import BridgeKit
import RecordBatch
import TestSupport
import Testing

@testable import SOAPBridge

/// Objects that are read to be sent back whole: what a request cannot repeat is an obstacle.
@Suite struct SentBackTests {
    private static let schemas = """
        <xs:schema targetNamespace="urn:x" xmlns:t="urn:s" xmlns:x="urn:x" xmlns:o="urn:o" elementFormDefault="qualified">
          <xs:import namespace="urn:o"/>
          <xs:complexType name="Box"><xs:complexContent><xs:extension base="t:Thing"><xs:sequence>
            <xs:element name="steps" minOccurs="0"><xs:complexType><xs:choice minOccurs="0" maxOccurs="unbounded">
              <xs:element name="wait" type="xs:int"/><xs:element name="send" type="xs:int"/></xs:choice></xs:complexType></xs:element>
            <xs:element name="lang" type="x:Lang" minOccurs="0"/>
            <xs:element name="status" type="xs:QName" minOccurs="0"/>
            <xs:element name="level" minOccurs="0"><xs:complexType><xs:simpleContent><xs:extension base="xs:QName">
              <xs:attribute name="of" type="xs:string"/></xs:extension></xs:simpleContent></xs:complexType></xs:element>
            <xs:element name="value" type="xs:anyType" minOccurs="0"/>
            <xs:element ref="o:id" minOccurs="0"/>
          </xs:sequence><xs:attribute name="kind" type="xs:QName"/></xs:extension></xs:complexContent></xs:complexType>
          <xs:complexType name="Lang"><xs:sequence><xs:element name="code" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType>
          <xs:element name="PutBox"><xs:complexType><xs:sequence><xs:element name="box" type="x:Box"/></xs:sequence></xs:complexType></xs:element>
        </xs:schema>
        <xs:schema targetNamespace="urn:o" elementFormDefault="qualified"><xs:element name="id" type="xs:int"/></xs:schema>
        """

    /// Reads a Box with this content as an update does.
    private func read(_ content: String, attributes: String = "") throws -> RecordBatch {
        let box =
            "<n:item xsi:type=\"x:Box\" xmlns:x=\"urn:x\" xmlns:o=\"urn:o\" \(attributes)><n:id>1</n:id>\(content)</n:item>"
        let reader = try ReplyReader(plan: Samples.plan(Samples.load(schemas: Self.schemas)), isExact: true)
        let writer = RecordBatchWriter()
        try reader.feed(Array(Samples.list(box).utf8)[...], into: writer)
        try reader.finish()
        return try writer.finish()
    }

    private func obstacle(_ content: String, attributes: String = "") throws -> String? {
        let batch = try read(content, attributes: attributes)
        return withExtendedLifetime(batch) { batch[0][RecordEmitter.obstacleName]?.text }
    }

    @Test func `elements of a repeated choice are sent back only in the order that a request has`() throws {
        let words = "it has elements of a repeated choice, whose order would change"
        let (wait, send) = ("<x:wait>1</x:wait>", "<x:send>2</x:send>")
        #expect(try obstacle("<x:steps>\(send)\(wait)</x:steps>") == words)
        #expect(try obstacle("<x:steps>\(send)\(send)\(wait)</x:steps>") == words)
        #expect(try obstacle("<x:steps>\(wait)\(wait)\(send)</x:steps>") == nil)
        #expect(
            try obstacle("<x:steps>\(wait)\(send)\(wait)</x:steps>") == "it repeats several elements in alternation")
        // Elements of a sequence have only one order.
        #expect(try obstacle("<x:lang/><x:steps>\(send)</x:steps>") == nil)
    }

    @Test func `a text where the schema has only elements, and a qualified name, are obstacles`() throws {
        #expect(try obstacle("<x:lang>en</x:lang>") == "it has text where the schema has only elements")
        #expect(try obstacle("<x:lang>\n </x:lang>") == nil)
        let words = "it has a qualified name (xs:QName), whose prefix means nothing in a request"
        #expect(try obstacle("<x:status>n:Active</x:status>") == words)
        #expect(try obstacle("<x:status> </x:status>") == nil)
        #expect(try obstacle("<x:level of=\"a\">n:High</x:level>") == words)
        #expect(try obstacle("<x:value xsi:type=\"xs:QName\">n:High</x:value>") == words)
        #expect(try obstacle("", attributes: "kind=\"n:Kind\"") == words)
        #expect(try obstacle("<x:value>n:High</x:value>") == nil)
    }

    @Test func `an element whose name another one has is sent only as itself`() throws {
        #expect(try obstacle("<o:id>2</o:id>") == "it has elements of one name in several namespaces")
        #expect(try obstacle("") == nil)
        #expect(try sent("").contains("urn:o") == false)
    }

    /// Returns the request that sends a Box back as it was read.
    private func sent(_ content: String) throws -> String {
        let definition = try Samples.load(schemas: Self.schemas)
        let element = try #require(definition.schemas.elements[QName("urn:x", "PutBox")])
        let operation = WSDLOperation(
            name: "PutBox", action: "", style: .document, input: MessageBody(elements: [element]),
            output: MessageBody())
        let batch = try read(content)
        let input = withExtendedLifetime(batch) { InputValue.object([.init(name: "box", value: InputValue(batch[0]))]) }
        let (bytes, _) = try EnvelopeWriter.write(
            operation, version: .v11, input: input, schemas: definition.schemas)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: [
        ("short", "1"), ("long", "9"), ("double", "0.1"), ("dateTime", "2024-01-01T00:00:00"), ("date", "2024-01-01"),
        ("base64Binary", "AAE="), ("hexBinary", "00ff"), ("boolean", "1"), ("decimal", "1.50"), ("anyURI", "http://x"),
        ("token", "x"), ("string", "x"), ("anyType", "x"),
    ])
    func `a value keeps its built-in type, whether or not the WSDL uses it`(type: String, value: String) throws {
        let request = try sent("<x:value xsi:type=\"xs:\(type)\">\(value)</x:value>")
        let pattern = try Regex("<n[0-9]+:value [^>]*xsi:type=\"(n[0-9]+):\(type)\">\(value)</n")
        let match = try #require(try pattern.firstMatch(in: request), "\(request)")
        let prefix = try #require(match.output[1].substring)
        #expect(request.contains("xmlns:\(prefix)=\"http://www.w3.org/2001/XMLSchema\""), "\(request)")
    }

    @Test func `a text among elements is refused in a request`() throws {
        let definition = try Samples.load()
        let port = try definition.port(service: nil, port: nil, version: nil).1
        let filter = InputValue.object([
            .init(name: "#text", value: .text("a")), .init(name: "name", value: .text("b")),
        ])
        let error = try bridgeError {
            _ = try EnvelopeWriter.write(
                port.operation("List"), version: .v11, input: .object([.init(name: "filter", value: filter)]),
                schemas: definition.schemas)
        }
        #expect(error.message == "List/filter takes elements, but has a text (#text)")
    }

    @Test(arguments: [
        ("2024-06-01", "2024-06-01+02:00", true), ("2024-06-01-05:00", "2024-06-01", true),
        ("2024-06-01", "2024-06-01T00:00:00+02:00", true), ("2024-06-01", "2024-06-02+02:00", false),
        ("2024-06-01+02:00", "2024-06-01-05:00", false), ("2024-06-01T00:00:00Z", "2024-06-01T02:00:00+02:00", true),
        ("2024-06-01T00:00:00Z", "2024-06-01T00:00:00+02:00", false),
    ])
    func `a day is the same in whatever zone it is written`(before: String, now: String, isSame: Bool) {
        #expect((SameValue.difference(.text(before), .text(now), path: "day") == nil) == isSame)
    }
}
