import BridgeKit
import RecordBatch

@testable import BridgeHTTP
@testable import Model
@testable import RESTBridge
@testable import SMBBridge
@testable import SOAPBridge

/// What reads a stranger's bytes, each as `Scripts/fuzz` calls it and as the tests replay what that found.
///
/// A reader may refuse what it gets. It must not crash, hang, or take what it cannot read again.
enum FuzzedReader: String, CaseIterable, Sendable {
    /// A reply of a SOAP service: its first byte says in which pieces it comes.
    case envelope
    /// A file of a share, maybe packed: its first byte says of which format its rows are.
    case file
    /// A configuration.
    case yaml
    /// A page of a JSON API: its first byte says how its section reads it.
    case page

    /// Reads the bytes to their end, or refuses them; whether they were taken.
    @discardableResult
    func read(_ bytes: [UInt8]) -> Bool {
        do {
            switch self {
            case .envelope: try Self.readEnvelope(bytes)
            case .file: try Self.readFile(bytes)
            case .yaml: _ = try ConfigurationFile.load(text: String(decoding: bytes, as: UTF8.self), path: "bmo.yml")
            case .page: try Self.readPage(bytes)
            }
            return true
        } catch {
            return false
        }
    }

    /// Every record that came must be readable, and the writer ready for the next one.
    private static func look(at writer: RecordBatchWriter) throws {
        let batch = try writer.finish()
        for index in 0..<batch.count { _ = batch.json(index) }
        withExtendedLifetime(batch) {}
    }

    // MARK: SOAP

    private static let wsdl = """
        <definitions targetNamespace="urn:s" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:s"
          xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"><types>
        <xs:schema targetNamespace="urn:s" elementFormDefault="qualified">
        <xs:element name="List"><xs:complexType><xs:sequence/></xs:complexType></xs:element>
        <xs:element name="ListResponse"><xs:complexType><xs:sequence><xs:element name="total" type="xs:int"/>
          <xs:element name="item" type="t:Item" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
        <xs:complexType name="Item"><xs:sequence><xs:element name="id" type="xs:int"/>
          <xs:element name="n" type="xs:string" nillable="true" maxOccurs="unbounded"/><xs:element name="at" type="xs:dateTime"/>
          <xs:element name="price" type="xs:decimal"/><xs:element name="on" type="xs:boolean"/>
          <xs:element name="image" type="xs:base64Binary"/><xs:element name="child" type="t:Item"/><xs:any minOccurs="0"/>
        </xs:sequence><xs:attribute name="k" type="xs:string"/></xs:complexType></xs:schema></types>
        <message name="In"><part name="p" element="t:List"/></message>
        <message name="Out"><part name="p" element="t:ListResponse"/></message>
        <portType name="P"><operation name="List"><input message="t:In"/><output message="t:Out"/></operation></portType>
        <binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/><operation name="List">
          <soap:operation soapAction=""/><input><soap:body use="literal"/></input><output><soap:body use="literal"/></output>
        </operation></binding>
        <service name="S"><port name="P" binding="t:B"><soap:address location="http://a/"/></port></service></definitions>
        """

    private static let plan = Result {
        guard let location = DocumentLocation("http://a.example/s.wsdl") else { throw BridgeError(.internal, "no URL") }
        let definition = try WSDLReader.load(location) { _ in Array(wsdl.utf8) }
        let port = try definition.port(service: nil, port: nil, version: nil).1
        return try ReplyPlan(
            operation: try port.operation("List"), schemas: definition.schemas,
            records: SOAPSection.path("ListResponse/item") ?? [], total: SOAPSection.path("ListResponse/total") ?? [])
    }

    private static func readEnvelope(_ bytes: [UInt8]) throws {
        let first = bytes.first ?? 0
        let type = first & 0x80 == 0 ? "text/xml" : "multipart/related; boundary=b; start=\"<a>\""
        let reader = try ReplyReader(plan: try plan.get(), contentType: type, recordBytes: 1 << 20)
        let writer = RecordBatchWriter()
        let size = max(1, Int(first & 0x7F))
        var rest = bytes.dropFirst()
        while !rest.isEmpty {
            try reader.feed(rest.prefix(size), into: writer)
            rest = rest.dropFirst(min(size, rest.count))
        }
        try reader.finish()
        while reader.hasPending { try reader.drain(into: writer, limit: 10, bytes: .max) }
        _ = (reader.takeRejected(), reader.fault, reader.deviations, reader.total)
        try look(at: writer)
    }

    // MARK: Files

    private static func readFile(_ bytes: [UInt8]) throws {
        let options = try ShareOptions(
            BridgeOptions {
                $0.member("url", "smb://h/s")
                $0.member("guest", true)
                $0.member("max_record_bytes", 1 << 16)
                $0.member("max_body_bytes", 1 << 20)
            })
        let format = ["csv", "ndjson", "json", "xml"][Int((bytes.first ?? 0) & 3)]
        let section = BridgeOptions {
            $0.member(format, "f")
            if format == "xml" { $0.member("records", "i") }
            if (bytes.first ?? 0) & 4 != 0, format == "csv" { $0.member("lenient_quotes", true) }
            if (bytes.first ?? 0) & 8 != 0 { $0.member("encoding", "utf-16le") }
        }
        let source = try EntitySection.source(
            FetchRequest(entity: "F", section: section), share: OneFile(options, Array(bytes.dropFirst())))
        let writer = RecordBatchWriter()
        while true {
            let page = try source.next(into: writer)
            try look(at: writer)
            if page.isEnd { return }
        }
    }

    /// A share with one file, `f`.
    private final class OneFile: Share {
        let options: ShareOptions
        let isFar = false
        private let bytes: [UInt8]

        init(_ options: ShareOptions, _ bytes: [UInt8]) {
            self.options = options
            self.bytes = bytes
        }

        func list(_ folder: [String], fileIDs: Bool) throws(SMBFailure) -> SMBListing {
            SMBListing(entries: [
                SMBEntry(name: "f", size: UInt64(bytes.count), attributes: 0, modified: 1, inode: 1)
            ])
        }

        func read(
            _ path: [String], offset: Int64, limit: Int, expecting expected: FileVersion?, growing: Bool
        ) throws(SMBFailure) -> (bytes: [UInt8], version: FileVersion) {
            let start = min(max(0, Int(offset)), bytes.count)
            return (
                Array(bytes[start..<min(bytes.count, start + limit)]),
                FileVersion(size: Int64(bytes.count), modified: 1, inode: 1)
            )
        }

        func owners(of path: [String]) throws(SMBFailure) -> Owners { Owners() }
    }

    // MARK: JSON

    private static func readPage(_ bytes: [UInt8]) throws {
        let first = bytes.first ?? 0
        let presets = ["json_api", "graphql", "odata", "hal"]
        let options = BridgeOptions {
            $0.member("path", "/p")
            if first & 1 != 0 { $0.member("records", "$.items") }
            if first & 2 != 0 { $0.member("preset", presets[Int(first >> 2 & 3)]) }
            if first & 16 != 0 { $0.member("records", "$.a[*].b") }
        }
        guard let base = HTTPURL("http://a.example/") else { return }
        let section = try RESTSection(FetchRequest(entity: "P", section: options), base: base, parameters: nil)
        let response = HTTPResponse(
            status: 200, headers: [(name: "content-type", value: "application/json")], url: "http://a.example/p",
            lostCredentials: false, sessionHeader: nil, redactor: HTTPRedactor(secrets: ["c4nary"]))
        let reader = try PageReader(section)
        let writer = RecordBatchWriter()
        try reader.begin(HTTPExchange.PaddedBody(bytes.dropFirst()), response, asked: "P")
        while try reader.read(into: writer).hasMore { try look(at: writer) }
        try look(at: writer)
        _ = (reader.facts(), reader.tombstones(), try reader.listedDeletions())
        reader.end()
    }
}
