import BridgeKit
import RecordBatch
import TestSupport
import Testing

@testable import SOAPBridge

/// Replies that say without a fault that a change was not carried out.
@Suite struct WriteVerdictTests {
    private let server: RemoteServer

    init() async throws { server = try await RemoteServer.python("odd-replies.py") }

    private static let wsdl = #"""
        <definitions targetNamespace="urn:s" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:s"
            xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
          <types><xs:schema targetNamespace="urn:s" elementFormDefault="qualified">
            <xs:complexType name="Note"><xs:sequence><xs:element name="id" type="xs:int"/>
              <xs:element name="success" type="xs:boolean" minOccurs="0"/></xs:sequence></xs:complexType>
            <xs:element name="List"/>
            <xs:element name="ListResponse"><xs:complexType><xs:sequence>
              <xs:element name="note" type="t:Note" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="Change"><xs:complexType><xs:sequence><xs:element name="id" type="xs:int"/>
              </xs:sequence></xs:complexType></xs:element>
            <xs:element name="ChangeResponse"><xs:complexType><xs:sequence>
              <xs:element name="note" type="t:Note" minOccurs="0"/><xs:any minOccurs="0" processContents="lax"/>
              </xs:sequence></xs:complexType></xs:element>
          </xs:schema></types>
          <message name="ListIn"><part name="p" element="t:List"/></message>
          <message name="ListOut"><part name="p" element="t:ListResponse"/></message>
          <message name="ChangeIn"><part name="p" element="t:Change"/></message>
          <message name="ChangeOut"><part name="p" element="t:ChangeResponse"/></message>
          <portType name="P">
            <operation name="List"><input message="t:ListIn"/><output message="t:ListOut"/></operation>
            <operation name="Change"><input message="t:ChangeIn"/><output message="t:ChangeOut"/></operation></portType>
          <binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
            <operation name="List"><soap:operation soapAction="a"/><input><soap:body use="literal"/></input>
              <output><soap:body use="literal"/></output></operation>
            <operation name="Change"><soap:operation soapAction="b"/><input><soap:body use="literal"/></input>
              <output><soap:body use="literal"/></output></operation></binding>
          <service name="S"><port name="A" binding="t:B"><soap:address location="http://127.0.0.1:1/"/></port></service>
        </definitions>
        """#

    /// Returns how many objects the change delivers.
    @discardableResult
    private func write(_ operation: WriteRequest.Operation, _ reply: String) throws -> Int {
        let path = try server.folder.write(Self.wsdl, to: "change.wsdl")
        let options: Literal = ["wsdl": .text(path), "endpoint": .text("\(server.url)/change?\(reply)")]
        let section: Literal = [
            "operation": "List", "records": "ListResponse/note",
            "write": ["delete": ["operation": "Change", "key": "id"], "create": ["operation": "Change"]],
        ]
        let bridge = try SOAPBridge(options: options.options, context: BridgeContext())
        var request = WriteRequest(
            operation, entity: "Note", section: section.options, key: (["id": 1] as Literal).options,
            values: (["id": 1] as Literal).options, object: ([:] as Literal).options)
        request.keyPaths = ["id": ["id"]]
        let writer = RecordBatchWriter()
        try bridge.write(request, into: writer)
        return writer.recordCount
    }

    @Test func `of several objects in a reply, none is taken for the one that was changed`() throws {
        #expect(try write(.create, "note") == 1)
        #expect(try write(.create, "notes") == 0)
    }

    @Test func `the object in a reply is the only element of the type of the records, rather not in a list`() {
        var schemas = SchemaSet()
        let item = schemas.add(.complex(ComplexType()))
        func element(_ name: String, _ type: TypeID, isRepeated: Bool = false) -> SchemaElement {
            SchemaElement(name: QName("urn:s", name), type: type, isRepeated: isRepeated)
        }
        func paths(_ children: [SchemaElement]) -> [[String]] {
            var reply = ComplexType()
            reply.children = children
            let output = MessageBody(elements: [element("Reply", schemas.add(.complex(reply)))])
            let operation = WSDLOperation(
                name: "Change", action: "", style: .document, input: MessageBody(), output: output)
            return ReplyObject(in: operation, of: item, schemas).paths
        }
        var inner = ComplexType()
        inner.children = [element("item", item)]
        let result = schemas.add(.complex(inner))
        #expect(paths([element("item", item)]) == [["Reply", "item"]])
        #expect(paths([element("old", item), element("new", item)]) == [["Reply", "old"], ["Reply", "new"]])
        let list = element("item", item, isRepeated: true)
        let results = element("results", result, isRepeated: true)
        #expect(paths([list]) == [["Reply", "item"]])
        #expect(paths([results]) == [["Reply", "results", "item"]])
        #expect(paths([list, results]) == [["Reply", "item"], ["Reply", "results", "item"]])
        let created = element("created", result)
        #expect(paths([list, created]) == [["Reply", "created", "item"]])
    }

    @Test(
        arguments: [
            ("false", "its success is false", "is locked"), ("attribute", "its @isSuccess is false", nil),
            ("returned", "its ChangeResult is false", nil), ("sap", "its TYPE is E", "is locked"),
        ], [WriteRequest.Operation.create, .delete])
    func `a reply that denies its success is a refusal`(
        reply: (name: String, words: String, message: String?), operation: WriteRequest.Operation
    ) throws {
        let error = try bridgeError { try write(operation, reply.name) }
        #expect(error.code == .remote && !error.isRetryable)
        #expect(error.message.hasSuffix("the change was not carried out: \(reply.words)"), "\(error)")
        #expect(error.remote == reply.message)
    }

    @Test(
        arguments: [
            ("sharepoint", "its ErrorCode is 0x81020016", "Item does not exist"),
            ("marketing", "its StatusCode is Error", "locked"), ("text", "its ChangeResult is Error: locked", nil),
            ("return", "its return is ERROR", nil),
        ], [WriteRequest.Operation.create, .delete])
    func `a reply that says that something failed leaves the outcome unknown`(
        reply: (name: String, words: String, message: String?), operation: WriteRequest.Operation
    ) throws {
        let error = try bridgeError { try write(operation, reply.name) }
        #expect(error.code == .timeout)
        #expect(error.message.contains("the reply says that something failed: \(reply.words);"), "\(error)")
        #expect(error.remote == reply.message)
    }

    @Test func `a gateway that got no answer leaves the outcome unknown, one that could not connect does not`() throws {
        for status in ["499", "504", "524"] {
            let error = try bridgeError { try write(.create, status) }
            #expect(error.code == .timeout && !error.isRetryable, "\(error)")
        }
        for status in ["503", "521"] {
            let error = try bridgeError { try write(.create, status) }
            #expect(error.code == .remote && error.isRetryable, "\(error)")
        }
        #expect(try bridgeError { try write(.create, "422") }.code == .remote)
    }

    @Test(arguments: ["true", "fine", "nothing", "note", "zero"])
    func `a reply that denies nothing is a success, and an object may have any value`(reply: String) throws {
        try write(.create, reply)
    }

    /// A WSDL from the network that names the server of the replies, which is another origin.
    private func abroad(_ more: Literal = [:]) async throws -> (RemoteServer, SOAPBridge) {
        let site = try await RemoteServer.files()
        try site.folder.write(
            Self.wsdl.replacing("http://127.0.0.1:1/", with: "\(server.url)/change?text"), to: "change.wsdl")
        let options = (["wsdl": "\(site.url)/change.wsdl", "wsdl_cache": ""] as Literal).adding(more)
        return (site, try SOAPBridge(options: options.options, context: BridgeContext()))
    }

    @Test func `a change is not sent to an endpoint that only a WSDL from the network names`() async throws {
        let section: Literal = [
            "operation": "List", "records": "ListResponse/note", "write": ["create": ["operation": "Change"]],
        ]
        var request = WriteRequest(
            .create, entity: "Note", section: section.options, values: (["id": 1] as Literal).options)
        request.keyPaths = ["id": ["id"]]
        let (site, bridge) = try await abroad()
        let error = try bridgeError { try bridge.write(request, into: RecordBatchWriter()) }
        #expect(error.code == .permission && !error.isRetryable)
        #expect(error.message == "the change was not sent: the WSDL names an endpoint of another origin than its own")
        #expect(error.remedy == "set the option endpoint to the URL that you trust")
        #expect(error.location == "\(server.url)/change?text")
        // With the option, the change is sent: the reply has its words.
        let (other, trusting) = try await abroad(["endpoint": "\(server.url)/change?text"])
        let sent = try bridgeError { try trusting.write(request, into: RecordBatchWriter()) }
        #expect(sent.message.contains("its ChangeResult is Error: locked"), "\(sent)")
        withExtendedLifetime((site, other)) {}
    }

    @Test(
        arguments: [
            ([:], ""),
            (["auth": ["type": "bearer", "token": "s3cret-bearer"]], "; credentials are not"),
        ] as [(Literal, String)])
    func `a scan of such an endpoint says what is sent there`(options: Literal, words: String) async throws {
        let (site, bridge) = try await abroad(options)
        let section: Literal = ["operation": "List", "records": "ListResponse/note"]
        var request = FetchRequest(entity: "Note", section: section.options)
        request.explains = true
        let scan = try Scan.run(try bridge.fetch(request))
        #expect(
            scan.pages.flatMap(\.warnings) == [
                "the input of List is sent to \(server.url)/change?text, which the WSDL names and which is another origin than "
                    + "the WSDL's\(words): set the option endpoint to the URL that you trust"
            ])
        withExtendedLifetime(site) {}
    }
}
