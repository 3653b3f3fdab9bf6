import BridgeKit
import TestSupport
import Testing

@testable import SOAPBridge

/// Replies without records that lack an element around the list, as services send that are busy.
@Suite struct MissingListTests {
    private let server: RemoteServer

    init() async throws { server = try await RemoteServer.python("odd-replies.py") }

    private static let wsdl = #"""
        <definitions targetNamespace="urn:s" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:s"
            xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
          <types><xs:schema targetNamespace="urn:s" elementFormDefault="qualified">
            <xs:complexType name="Items"><xs:sequence>
              <xs:element name="item" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence>
                <xs:element name="id" type="xs:int"/></xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType>
            <xs:complexType name="Message"><xs:sequence>
              <xs:element name="text" type="xs:string" minOccurs="0"/>
              <xs:element name="last" type="xs:boolean" minOccurs="0"/>
              <xs:element name="folder" minOccurs="0"><xs:complexType><xs:sequence>
                <xs:element name="items" type="t:Items" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
              </xs:sequence><xs:attribute name="kind" type="xs:string"/>
              <xs:attribute name="responseClass" type="xs:string"/></xs:complexType>
            <xs:element name="List"><xs:complexType><xs:sequence><xs:element name="offset" type="xs:int" minOccurs="0"/>
              </xs:sequence></xs:complexType></xs:element>
            <xs:element name="ListResponse"><xs:complexType><xs:sequence>
              <xs:element name="success" type="xs:boolean" minOccurs="0"/>
              <xs:element name="requestId" type="xs:string" minOccurs="0"/>
              <xs:element name="server" type="xs:string" minOccurs="0"/>
              <xs:element name="at" type="xs:dateTime" minOccurs="0"/>
              <xs:element name="status" type="xs:string" minOccurs="0"/>
              <xs:element name="header" type="xs:anyType" minOccurs="0"/>
              <xs:element name="message" type="xs:string" minOccurs="0"/>
              <xs:element name="items" type="t:Items" minOccurs="0"/>
              <xs:element name="messages" minOccurs="0"><xs:complexType><xs:sequence>
                <xs:element name="message" type="t:Message" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
              </xs:sequence><xs:attribute name="responseClass" type="xs:string"/></xs:complexType></xs:element>
          </xs:schema></types>
          <message name="In"><part name="p" element="t:List"/></message>
          <message name="Out"><part name="p" element="t:ListResponse"/></message>
          <portType name="P"><operation name="List"><input message="t:In"/><output message="t:Out"/></operation></portType>
          <binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
            <operation name="List"><soap:operation soapAction="a"/><input><soap:body use="literal"/></input>
              <output><soap:body use="literal"/></output></operation></binding>
          <service name="S"><port name="A" binding="t:B"><soap:address location="http://127.0.0.1:1/"/></port></service>
        </definitions>
        """#

    private static let message = "ListResponse/messages/message"

    private func scan(_ name: String, _ section: Literal = [:]) throws -> Scan {
        let name = name.replacing(" ", with: "%20")
        let path = try server.folder.write(Self.wsdl, to: "missing.wsdl")
        return try Scan.run(
            ["wsdl": .text(path), "endpoint": .text("\(server.url)/\(name)")],
            (["operation": "List", "records": .text("\(Self.message)/folder/items/item")] as Literal).adding(section))
    }

    @Test(arguments: [nil, "total", "done"])
    func `a reply with something else than the way to the records is not an empty listing`(count: String?) throws {
        let paths = ["total": "\(Self.message)/folder/@total", "done": "\(Self.message)/last"]
        var section: Literal = [:]
        if let count, let path = paths[count] {
            section = ["paging": ["style": "offset", "offset_element": "offset", count: .text(path)]]
        }
        let scan = try scan("busy", section)
        #expect(scan.records.isEmpty)
        #expect(scan.pages.last?.isEnd == true && scan.pages.last?.isComplete == false)
        let warning = try #require(scan.pages.flatMap(\.warnings).first)
        #expect(warning.contains("no <folder> on the way to the records"), "\(warning)")
        #expect(warning.contains(count ?? "write paging: {style: none}"), "\(warning)")
    }

    @Test(arguments: [
        "nofolder", "nofolderok", "nofoldersuccess", "emptyfolder", "ids", "nonefound", "code?1", "code?true",
        "code?Success", "code?OK", "code?NoError", "code?0",
    ])
    func `a reply that reports no failure, or a success, is an empty listing`(name: String)
        throws
    {
        let scan = try scan(name)
        #expect(scan.records.isEmpty)
        #expect(scan.pages.last?.isComplete == true, "\(scan.pages.flatMap(\.warnings))")
    }

    @Test func `a state of more data says that the listing is not complete`() throws {
        let section: Literal = ["records": "ListResponse/items/item"]
        let part = try scan("overall?MoreDataAvailable", section)
        #expect(part.pages.last?.isComplete == false)
        let warning = part.pages.flatMap(\.warnings).joined()
        #expect(warning.contains("its OverallStatus is MoreDataAvailable"), "\(warning)")
        #expect(try scan("overall?OK", section).pages.last?.isComplete == true)
    }

    @Test func `a code of 1 is not a success`() throws {
        #expect(!AllClear.isSuccess("1", of: "resultCode"))
        #expect(AllClear.isSuccess("1", of: "@isSuccess") && AllClear.isSuccess("1", of: "Status"))
        #expect(try scan("resultcode?1").pages.last?.isComplete == false)
        #expect(try scan("resultcode?0").pages.last?.isComplete == true)
    }

    @Test func `a declared whole list may lack anything`() throws {
        let scan = try scan("busy", ["paging": ["style": "none"]])
        #expect(scan.pages.last?.isComplete == true && scan.pages.flatMap(\.warnings).isEmpty)
    }

    @Test func `an attribute that begins with Error says that the reply failed, and another state does not`() throws {
        let failed = try scan("errorclass", ["records": "ListResponse/items/item"])
        #expect(failed.pages.last?.isComplete == false)
        let warning = try #require(failed.pages.flatMap(\.warnings).first)
        #expect(warning.contains("its @responseClass is Error: late"), "\(warning)")
        let fine = try scan("okclass", ["records": "ListResponse/items/item"])
        #expect(fine.pages.last?.isComplete == true && fine.pages.flatMap(\.warnings).isEmpty)
    }

    @Test(arguments: [
        ("code?false", "its status is false"), ("code?Failed", "its status is Failed"),
        ("code?500", "its status is 500"), ("resultcode?-1", "its resultCode is -1"),
        ("resultcode?404", "its resultCode is 404"),
        ("overall?Error: no such property", "its OverallStatus is Error: no such property"),
        ("nested", "its success is false"), ("nestederror", "its string is E931"),
        ("sap?E", "its TYPE is E"), ("downmessage", "its message is Error: no connection to the database)"),
    ])
    func `a sign of failure counts wherever it stands outside the records`(name: String, words: String) throws {
        let section: Literal = ["records": "ListResponse/items/item"]
        let failed = try scan(name, section)
        #expect(failed.records.isEmpty && failed.pages.last?.isComplete == false)
        let warning = try #require(failed.pages.flatMap(\.warnings).first)
        #expect(warning.contains("the reply says that it failed (\(words)"), "\(warning)")
        let whole = try scan(name, section.adding(["paging": ["style": "none"]]))
        #expect(whole.pages.last?.isComplete == true && whole.pages.flatMap(\.warnings).isEmpty)
    }

    @Test
    func `a message that mentions a failure counts without the list, a state that is not known only without more`()
        throws
    {
        let down = try scan("down", ["records": "ListResponse/items/item"])
        #expect(down.pages.last?.isComplete == false)
        let warning = try #require(down.pages.flatMap(\.warnings).first)
        #expect(
            warning.contains("no <items> on the way to the records, and its message is Database unav"), "\(warning)")
        #expect(try scan("code?Pending", ["records": "ListResponse/items/item"]).pages.last?.isComplete == true)
        #expect(try scan("code?Pending").pages.last?.isComplete == false)
    }

    @Test(arguments: [("No items found", true), ("Result set not found", false), ("No orders found", false)])
    func `an error that says that the records are none is an empty listing, and one about something else is not`(
        message: String, isComplete: Bool
    ) throws {
        let scan = try scan("errormessage?\(message)", ["records": "ListResponse/items/item"])
        #expect(scan.records.isEmpty && scan.pages.last?.isComplete == isComplete)
    }

    @Test func `an element that the schema lacks is not a list if it is a plain value that reports no failure`() throws
    {
        #expect(try scan("ids", ["records": "ListResponse/items/item"]).pages.last?.isComplete == true)
        let scan = try scan("stranger", ["records": "ListResponse/items/item"])
        #expect(scan.pages.last?.isComplete == false)
        #expect(scan.pages.flatMap(\.warnings).joined(separator: "\n").contains("the reply has <note>"))
    }

    @Test func `a message that is none of an error beside an empty list does not matter`() throws {
        let scan = try scan("sap?S", ["records": "ListResponse/items/item"])
        #expect(scan.pages.last?.isComplete == true && scan.pages.flatMap(\.warnings).isEmpty)
    }

    @Test func `a part of a reply that failed leaves its records missing`() throws {
        let scan = try scan("halffailed")
        #expect(scan.records == [#"{"id":1}"#])
        #expect(scan.pages.last?.isComplete == false)
        #expect(scan.pages.flatMap(\.warnings).joined(separator: "\n").contains("its @responseClass is Error"))
    }

    @Test func `what says in all its words that nothing failed is not a sign of a failure`() {
        for text in [
            "No records found", "no data", "0 results", "Success: no errors", "The operation completed successfully.",
            "Record not found", "nothing found for this search", "OK", "0 - OK", "Errors: 0", "the list is empty",
            "No records match the search criteria", "no search results", "The result set is empty", "No rows selected",
        ] {
            #expect(AllClear.isNone(text), "\(text)")
        }
        for text in [
            "E17", "1", "No connection", "not completed", "completed with errors", "no data: service unavailable",
            "Session not found", "true", "request", "no request completed",
            "Result set not found", "List not found", "Operation not found", "No matching operation found",
            "The query is empty", "No data set specified", "No data specified", "No orders found", "Not found",
        ] {
            #expect(!AllClear.isNone(text), "\(text)")
        }
        for text in ["No orders found", "0 sales orders", "no order matches your search"] {
            #expect(AllClear.isNone(text, ["sale", "order"]), "\(text)")
        }
        #expect(!AllClear.isNone("No order query found", ["order"]))
        for text in ["1", "true", "Success", "OK", "NoError", "0", "000", "200", "Completed"] {
            #expect(AllClear.isSuccess(text), "\(text)")
        }
        for text in ["", "none", "false", "no", "2", "Pending", "not ok"] {
            #expect(!AllClear.isSuccess(text), "\(text)")
        }
    }
}
