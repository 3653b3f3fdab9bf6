import BridgeKit
import Foundation
import TestSupport
import Testing

@testable import SOAPBridge

/// Counts, flags and positions around the records that the section does not name, as Exchange, Marketo, Workday and
/// SharePoint send them.
@Suite struct PlainCountTests {
    private let server: RemoteServer

    init() async throws { server = try await RemoteServer.python("odd-replies.py") }

    private static let wsdl: String = {
        let operations = ["Find", "Leads", "Rows"]
        let item = #"""
            <xs:complexType name="Item"><xs:sequence><xs:element name="Id" minOccurs="0"><xs:complexType><xs:simpleContent>
              <xs:extension base="xs:int"><xs:attribute name="n" type="xs:int"/></xs:extension></xs:simpleContent></xs:complexType>
              </xs:element></xs:sequence></xs:complexType>
            """#
        let messages = operations.map {
            #"<message name="\#($0)In"><part name="p" element="t:\#($0)"/></message><message name="\#($0)Out"><part name="p" element="t:\#($0)Response"/></message>"#
        }
        let types = operations.map {
            #"<operation name="\#($0)"><input message="t:\#($0)In"/><output message="t:\#($0)Out"/></operation>"#
        }
        let bindings = operations.map {
            #"<operation name="\#($0)"><soap:operation soapAction="a"/><input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation>"#
        }
        return #"""
            <definitions targetNamespace="urn:s" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:s"
                xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
              <types><xs:schema targetNamespace="urn:s" elementFormDefault="qualified">\#(item)
                <xs:simpleType name="Amount"><xs:restriction base="xs:decimal"/></xs:simpleType>
                <xs:complexType name="Message"><xs:sequence>
                  <xs:element name="MessageText" type="xs:string" minOccurs="0"/>
                  <xs:element name="ResponseCode" type="xs:string" minOccurs="0"/>
                  <xs:element name="RootFolder" minOccurs="0"><xs:complexType><xs:sequence>
                    <xs:element name="Items"><xs:complexType><xs:choice minOccurs="0" maxOccurs="unbounded">
                      <xs:element name="Message" type="t:Item"/><xs:element name="CalendarItem" type="t:Item"/>
                    </xs:choice></xs:complexType></xs:element></xs:sequence>
                    <xs:attribute name="TotalItemsInView" type="xs:int"/>
                    <xs:attribute name="IncludesLastItemInRange" type="xs:boolean"/></xs:complexType></xs:element>
                  </xs:sequence><xs:attribute name="ResponseClass" type="xs:string"/></xs:complexType>
                <xs:element name="Find"><xs:complexType><xs:sequence>
                  <xs:element name="Offset" type="xs:int" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
                <xs:element name="FindResponse"><xs:complexType><xs:sequence><xs:element name="Messages"><xs:complexType>
                  <xs:sequence><xs:element name="Message" type="t:Message" maxOccurs="unbounded"/></xs:sequence>
                  </xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
                <xs:element name="Leads"><xs:complexType><xs:sequence>
                  <xs:element name="size" type="xs:int" minOccurs="0"/>
                  <xs:element name="limit" type="xs:int" minOccurs="0"/>
                  <xs:element name="offset" type="xs:int" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
                <xs:element name="LeadsResponse"><xs:complexType><xs:sequence>
                  <xs:element name="remainingCount" type="xs:int" minOccurs="0"/>
                  <xs:element name="hasMore" type="xs:string" minOccurs="0"/>
                  <xs:element name="total" type="xs:decimal" minOccurs="0"/>
                  <xs:element name="nextPageToken" type="xs:string" minOccurs="0"/>
                  <xs:element name="totalCount" type="xs:string" minOccurs="0"/>
                  <xs:element name="Response_Results" minOccurs="0"><xs:complexType><xs:sequence>
                    <xs:element name="Total_Results" type="t:Amount"/></xs:sequence></xs:complexType></xs:element>
                  <xs:element name="lead" type="t:Item" minOccurs="0" maxOccurs="unbounded"/>
                  </xs:sequence></xs:complexType></xs:element>
                <xs:element name="Rows"/>
                <xs:element name="RowsResponse"><xs:complexType><xs:sequence><xs:element name="RowsResult"><xs:complexType
                  mixed="true"><xs:sequence><xs:any/></xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType>
                  </xs:element>
              </xs:schema></types>
              \#(messages.joined())<portType name="P">\#(types.joined())</portType>
              <binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>\#(bindings.joined())</binding>
              <service name="S"><port name="A" binding="t:B"><soap:address location="http://127.0.0.1:1/"/></port></service>
            </definitions>
            """#
    }()

    private static let folder = "FindResponse/Messages/Message/RootFolder"

    private func scan(
        _ name: String, _ records: String, _ paging: Literal? = nil, input: Literal = [:], faults: Literal? = nil
    ) throws -> Scan {
        let path = try server.folder.write(Self.wsdl, to: "counts.wsdl")
        let operation = try #require(records.components(separatedBy: "Response").first)
        var section: Literal = ["operation": .text(operation), "records": .text(records), "input": input]
        if let faults { section = section.adding(["faults": faults]) }
        return try Scan.run(
            ["wsdl": .text(path), "endpoint": .text("\(server.url)/\(name)")],
            paging.map { section.adding(["paging": $0]) } ?? section)
    }

    @Test(arguments: ["total", "flag", "total,flag"], ["*", "Message"])
    func `a total or a flag in attributes around the list shows that there is more`(mode: String, record: String) throws
    {
        let records = "\(Self.folder)/Items/\(record)"
        let part = try scan("exchange?\(mode)", records)
        #expect(part.records.count == 5 && part.pages.last?.isComplete == false)
        let warning = part.pages.flatMap(\.warnings).joined()
        #expect(warning.contains("set paging") || warning.contains("announced 8 records"), "\(warning)")
        let whole = try scan("exchange?whole,\(mode)", records)
        #expect(whole.records.count == 8 && whole.pages.last?.isComplete == true)
        #expect(whole.pages.flatMap(\.warnings).isEmpty)
        let declared = try scan("exchange?\(mode)", records, ["style": "none"])
        #expect(declared.pages.last?.isComplete == true)
    }

    @Test func `of several parts each counts its own records, and one flag for more is enough`() throws {
        let records = "\(Self.folder)/Items/*"
        #expect(try scan("exchange?two,total", records).pages.last?.isComplete == true)
        #expect(try scan("exchange?two,total,flag", records).pages.last?.isComplete == false)
        #expect(try scan("exchange?two,whole,flag", records).pages.last?.isComplete == true)
        let part = try scan("exchange?two,total,ten", records)
        #expect(part.pages.last?.isComplete == false)
        #expect(part.pages.flatMap(\.warnings).joined().contains("announced 20 records but returned 10"))
    }

    @Test(arguments: [
        ("remaining", false), ("remainingparts", false), ("last", true), ("nested", false), ("nestedlast", true),
        ("token", false), ("money", true),
    ])
    func `a number of records that follow counts, and a clear total in an object beside the list`(
        mode: String, isComplete: Bool
    ) throws {
        #expect(try scan("leads?\(mode)", "LeadsResponse/lead").pages.last?.isComplete == isComplete)
    }

    @Test(arguments: ["more", "total"])
    func `a flag may be a letter, and a total a decimal`(member: String) throws {
        let (reply, path) = member == "more" ? ("yes", "hasMore") : ("decimal", "totalCount")
        let scan = try scan(
            "leads?\(reply)", "LeadsResponse/lead", [member: .text("LeadsResponse/\(path)"), "style": "none"])
        #expect(scan.records.count == 1 && scan.pages.last?.isComplete == false)
    }

    @Test(arguments: [("next", false), ("end", true), ("zero", true)])
    func `the position of a next page counts where the schema describes nothing`(mode: String, isComplete: Bool) throws
    {
        let records = "RowsResponse/RowsResult/data/row"
        let scan = try scan("rows?\(mode)", records)
        #expect(scan.records == [#"{"@Id":"a"}"#])
        #expect(scan.pages.last?.isComplete == isComplete)
        let warning = scan.pages.flatMap(\.warnings).joined()
        #expect(
            warning.contains("its @ListItemCollectionPositionNext is Paged=TRUE&p_ID=1") != isComplete, "\(warning)")
        let whole = try self.scan("rows?\(mode)", records, ["style": "none"])
        #expect(whole.pages.last?.isComplete == true)
    }

    @Test(arguments: ["*", "Message"])
    func `a busy server's reply is not an empty listing`(record: String) throws {
        let paging: Literal = [
            "style": "offset", "offset_element": "Offset", "total": .text("\(Self.folder)/@TotalItemsInView"),
        ]
        for paging in [nil, paging] {
            let scan = try scan("exchange?error", "\(Self.folder)/Items/\(record)", paging)
            #expect(scan.records.isEmpty && scan.pages.last?.isComplete == false)
            let warning = scan.pages.flatMap(\.warnings).joined()
            #expect(warning.contains("its @ResponseClass is Error"), "\(warning)")
        }
    }

    @Test(arguments: [["total": "RootFolder/@TotalItemsInView"], ["done": "RootFolder/@IncludesLastItemInRange"], [:]])
    func `pages of a list with other elements go on behind all of them`(end: [String: String]) throws {
        var paging: Literal = ["style": "offset", "offset_element": "Offset", "size": 5]
        for (name, path) in end { paging = paging.adding([name: .text("FindResponse/Messages/Message/\(path)")]) }
        let scan = try scan("exchange?mixed,total,flag", "\(Self.folder)/Items/Message", paging)
        #expect(scan.records == [1, 3, 5, 7].map { ##"{"Id":{"@n":\##($0),"#text":\##($0)}}"## })
        #expect(scan.pages.count == 2)
        // Without an end that the service names, a record may have moved between the pages.
        #expect(scan.pages.last?.isComplete == (end["total"] != nil))
        let whole = try self.scan("exchange?mixed,whole,total", "\(Self.folder)/Items/Message")
        #expect(whole.records.count == 4 && whole.pages.last?.isComplete == true)
    }

    @Test(arguments: [
        ("100,100,", false), ("99,99,", true), ("250,250,", false), ("2000,2000,", false), ("2345,2345,", true),
        ("100,100,hasMore=false", true), ("100,100,remainingCount=0", true),
        ("100,100,Response_Results/Total_Results=100", true),
        ("100,100,Response_Results/Total_Results=0", false),
    ])
    func `just as many records as usual pages have are not all unless the reply says so`(
        mode: String, isComplete: Bool
    ) throws {
        let scan = try scan("many?\(mode)", "LeadsResponse/lead")
        #expect(scan.pages.last?.isComplete == isComplete)
        let warning = scan.pages.flatMap(\.warnings).joined()
        #expect(warning.contains("records arrived, a common page size, and nothing says") != isComplete, "\(warning)")
        let whole = try self.scan("many?\(mode)", "LeadsResponse/lead", ["style": "none"])
        #expect(whole.pages.last?.isComplete == true && whole.pages.flatMap(\.warnings).isEmpty)
    }

    @Test(arguments: [(75, false), (80, true)])
    func `just as many records as the input requests are not all`(limit: Int, isComplete: Bool) throws {
        let scan = try scan("many?75,75,", "LeadsResponse/lead", input: ["limit": .integer(Int64(limit))])
        #expect(scan.records.count == 75 && scan.pages.last?.isComplete == isComplete)
        let warning = scan.pages.flatMap(\.warnings).joined()
        #expect(warning.contains("the 75 records arrived that limit = 75 in input") != isComplete, "\(warning)")
    }

    @Test func `more records than a number in the input show that it limits something else`() throws {
        let scan = try scan("many?312,312,", "LeadsResponse/lead", input: ["size": 10])
        #expect(scan.records.count == 312 && scan.pages.last?.isComplete == true)
        #expect(scan.pages.flatMap(\.warnings).isEmpty)
        let cut = try self.scan("many?312,312,", "LeadsResponse/lead", input: ["size": 10, "limit": 75])
        #expect(cut.records.count == 75 && cut.pages.last?.isComplete == false)
        let warning = cut.pages.flatMap(\.warnings).joined()
        #expect(warning.contains("just the 75 records arrived that limit = 75 in input requests"), "\(warning)")
    }

    @Test(arguments: [
        ("nextOffset=37", true), ("nextPageToken=abc", true), ("hasMore=true", false), ("hasNextPage=true", false),
        ("hasNextPage=false", true),
    ])
    func `under declared paging by offset a flag keeps the end open, but a position does not`(
        mode: String, isComplete: Bool
    ) throws {
        let paging: Literal = ["style": "offset", "offset_element": "offset", "limit_element": "limit", "size": 50]
        let scan = try scan("many?37,37,\(mode)", "LeadsResponse/lead", paging)
        #expect(scan.records.count == 37 && scan.pages.last?.isComplete == isComplete)
        let warning = scan.pages.flatMap(\.warnings).joined()
        #expect(warning.contains("there may be more records, because its has") != isComplete, "\(warning)")
    }

    @Test func `without paging the position of a next page keeps the end open`() throws {
        let scan = try scan("many?37,37,nextOffset=37", "LeadsResponse/lead")
        #expect(scan.records.count == 37 && scan.pages.last?.isComplete == false)
        #expect(scan.pages.flatMap(\.warnings).joined().contains("because its nextOffset is 37"))
    }

    @Test func `a fault after a short first page of a usual size does not fail the scan`() throws {
        let paging: Literal = ["style": "offset", "offset_element": "offset", "limit_element": "limit", "size": 500]
        let open = try scan("many?100,100,fault", "LeadsResponse/lead", paging)
        #expect(open.records.count == 100 && open.pages.last?.isComplete == false)
        let warning = open.pages.flatMap(\.warnings).joined()
        #expect(warning.contains("offset 100 is a fault (Client: no such page), and the first page"), "\(warning)")
        let all = try scan(
            "many?100,100,fault", "LeadsResponse/lead", paging,
            faults: .array([["code": "Client", "action": "empty"]]))
        #expect(all.records.count == 100 && all.pages.last?.isComplete == true)
        #expect(all.pages.flatMap(\.warnings).isEmpty)
        // A fault that another attempt may mend, and one behind a full page, are errors as ever.
        #expect(
            try bridgeError { _ = try scan("many?100,100,faultserver", "LeadsResponse/lead", paging) }.isRetryable)
        let full = paging.adding(["size": 100])
        #expect(try bridgeError { _ = try scan("many?100,100,fault", "LeadsResponse/lead", full) }.code == .remote)
    }

    @Test(arguments: [("100,250,", 250, false), ("100,100,", 100, true), ("99,250,", 99, true)])
    func `a short first page of a usual size is followed by another request`(
        mode: String, count: Int, isComplete: Bool
    ) throws {
        let scan = try scan(
            "many?\(mode)", "LeadsResponse/lead",
            ["style": "offset", "offset_element": "offset", "limit_element": "limit", "size": 1000])
        #expect(scan.records.count == count && scan.pages.last?.isComplete == isComplete)
    }

    @Test func `a service that ignores the offset after a short first page leaves the end open`() throws {
        let scan = try scan(
            "many?100,100,stuck", "LeadsResponse/lead", ["style": "offset", "offset_element": "offset", "size": 1000])
        #expect(scan.pages.last?.isComplete == false)
        let warning = scan.pages.flatMap(\.warnings).joined()
        #expect(warning.contains("offset 100 has the same records as the first page"), "\(warning)")
    }

    @Test func `a listing by tokens that names no flag ends where a reply says that there is more`() throws {
        let paging: Literal = ["style": "token", "token_element": "offset", "token": "LeadsResponse/nextPageToken"]
        let scan = try scan("many?3,3,hasMore=true", "LeadsResponse/lead", paging)
        #expect(scan.records.count == 3 && scan.pages.last?.isComplete == false)
        let warning = scan.pages.flatMap(\.warnings).joined()
        #expect(warning.contains("its hasMore is true") && warning.contains("(total, more or done)"), "\(warning)")
        let whole = try self.scan("many?3,3,hasMore=false", "LeadsResponse/lead", paging)
        #expect(whole.pages.last?.isComplete == true)
    }
}
