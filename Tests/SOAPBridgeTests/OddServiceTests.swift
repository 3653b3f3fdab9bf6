import BridgeKit
import Foundation
import TestSupport
import Testing

@testable import SOAPBridge

/// WSDLs and replies that are right, or nearly so, and that clients stumble over; each has a stated result.
@Suite struct OddServiceTests {
    private let server: RemoteServer

    init() async throws { server = try await RemoteServer.python("odd-replies.py") }

    /// The path of the endpoint names the reply; `/w/NAME.wsdl` is a WSDL around one schema.
    private static let item = #"""
        <xs:complexType name="Item"><xs:sequence>
          <xs:element name="id" type="xs:int" minOccurs="0"/><xs:element name="name" type="xs:string" minOccurs="0"/>
          <xs:choice minOccurs="0" maxOccurs="unbounded">
            <xs:element name="red" type="xs:string"/><xs:element name="blue" type="xs:int"/></xs:choice>
          <xs:element name="row" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence>
            <xs:element name="cell" type="xs:int" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
        </xs:sequence><xs:attribute name="code" type="xs:string"/></xs:complexType>
        """#

    private static func wsdl(
        schema: String? = nil, target: String = #"targetNamespace="urn:s""#, form: String = "qualified",
        soap: String = "http://schemas.xmlsoap.org/wsdl/soap/", prefix: String = "t:", port: String = ""
    ) -> String {
        let schema =
            schema ?? #"""
                <xs:schema \#(target) elementFormDefault="\#(form)">\#(item)
                  <xs:complexType name="Items"><xs:sequence>
                    <xs:element name="item" type="\#(prefix)Item" minOccurs="0" maxOccurs="unbounded" nillable="true"/></xs:sequence></xs:complexType>
                  <xs:element name="List"><xs:complexType><xs:sequence/></xs:complexType></xs:element>
                  <xs:element name="ListResponse"><xs:complexType><xs:sequence>
                    <xs:element name="items" type="\#(prefix)Items" minOccurs="0" nillable="true"/></xs:sequence></xs:complexType></xs:element>
                </xs:schema>
                """#
        return #"""
            <definitions \#(target) xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:s"
                xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:soap="\#(soap)">
              <types>\#(schema)</types>
              <w:message name="In"><w:part name="p" element="\#(prefix)List"/></w:message>
              <w:message name="Out"><w:part name="p" element="\#(prefix)ListResponse"/></w:message>
              <w:portType name="P"><w:operation name="List"><w:input message="\#(prefix)In"/><w:output message="\#(prefix)Out"/></w:operation></w:portType>
              <w:binding name="B" type="\#(prefix)P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
                <w:operation name="List"><soap:operation soapAction="a"/><w:input><soap:body use="literal"/></w:input>
                  <w:output><soap:body use="literal"/></w:output></w:operation></w:binding>
              <w:service name="S"><w:port name="A" binding="\#(prefix)B"><soap:address location="http://127.0.0.1:1/"/></w:port>\#(port)</w:service>
            </definitions>
            """#
    }

    private func scan(
        _ name: String, wsdl: String = wsdl(), options: Literal = [:], _ section: Literal = [:]
    ) throws -> Scan {
        let path = try server.folder.write(wsdl, to: "odd.wsdl")
        return try Scan.run(
            (["wsdl": .text(path), "endpoint": .text("\(server.url)/\(name)")] as Literal).adding(options),
            (["operation": "List", "records": "ListResponse/items/item"] as Literal).adding(section))
    }

    /// A WSDL whose replies say, beside the list, whether they failed.
    private static func wsdl(error: String) -> String {
        let list = #"<xs:element name="items""#
        return wsdl().replacing(
            list,
            with: #"""
                <xs:element name="success" type="xs:boolean" minOccurs="0"/>
                <xs:element name="message" type="xs:string" minOccurs="0"/>
                \#(error)\#(list)
                """#)
    }

    private static let good = #"{"@code":"a","id":1,"name":"Zoë"}"#

    @Test(arguments: ["good", "latin", "latinheader", "utf16", "utf16be", "bom", "gzip", "declared12"])
    func `character sets, compression and the version of the envelope are the reply's own business`(name: String) throws
    {
        #expect(try scan(name).records == [Self.good])
    }

    @Test func `CDATA, references and characters are one text`() throws {
        #expect(try scan("text").records == [#"{"id":1,"name":"<b>&☺A]]>"}"#])
    }

    @Test func `the default namespace may change on the way`() throws {
        #expect(try scan("default").records == [#"{"@code":"a","id":1,"name":"n"}"#, #"{"id":2}"#])
    }

    @Test func `a record that is nil goes to quarantine, the next one comes`() throws {
        let scan = try scan("nilrecord")
        #expect(scan.records == [Self.good])
        #expect(scan.pages.flatMap(\.rejected).map(\.reason) == ["the record is xsi:nil"])
    }

    @Test(arguments: ["missing", "nillist", "emptylist", "onlynil"])
    func `a list that is missing, nil or empty is an empty and complete listing`(name: String) throws {
        let scan = try scan(name)
        #expect(scan.records.isEmpty)
        #expect(scan.pages.last?.isComplete == true)
        #expect(scan.pages.flatMap(\.warnings) == [])
    }

    @Test(arguments: [
        ("failed", "success is false: database down"), ("failedpart", "success is 0"),
        ("errorcode", "its error is E17: late"), ("errorobject", "its error is 17"),
    ])
    func `a reply that says that it failed is not a whole listing`(name: String, sign: String) throws {
        let error = #"""
            <xs:element name="errorCode" type="xs:string" minOccurs="0"/>
            <xs:element name="error" minOccurs="0"><xs:complexType><xs:sequence>
              <xs:element name="code" type="xs:int"/><xs:element name="text" type="xs:string"/></xs:sequence></xs:complexType></xs:element>
            """#
        let scan = try scan(name, wsdl: Self.wsdl(error: error))
        #expect(scan.records == (name == "failedpart" ? [Self.good] : []))
        #expect(scan.pages.last?.isComplete == false)
        #expect(
            scan.pages.flatMap(\.warnings) == [
                "the reply says that it failed (\(sign)), so records may be missing and nothing counts as deleted: if that is "
                    + "not a failure, write paging: {style: none}"
            ])
        let declared = try self.scan(name, wsdl: Self.wsdl(error: error), ["paging": ["style": "none"]])
        #expect(declared.pages.last?.isComplete == true && declared.pages.flatMap(\.warnings).isEmpty)
    }

    @Test func `a reply that says that all is well is a whole listing`() throws {
        let error = #"<xs:element name="errorCode" type="xs:string" minOccurs="0"/>"#
        let scan = try scan("succeeded", wsdl: Self.wsdl(error: error))
        #expect(scan.pages.last?.isComplete == true && scan.pages.flatMap(\.warnings).isEmpty)
    }

    @Test func `a hexadecimal text that is none sends the record to quarantine`() throws {
        let wsdl = Self.wsdl().replacing(
            #"<xs:element name="name" type="xs:string" minOccurs="0"/>"#,
            with: #"<xs:element name="hex" type="xs:hexBinary" minOccurs="0"/>"#
        ).replacing(
            #"<xs:attribute name="code" type="xs:string"/>"#, with: #"<xs:attribute name="hexes" type="xs:hexBinary"/>"#
        )
        let scan = try scan("hex", wsdl: wsdl)
        #expect(scan.records == [#"{"@hexes":"Cg==","id":2,"hex":"Cv8="}"#])
        let rejected = scan.pages.flatMap(\.rejected)
        #expect(
            rejected.map(\.reason) == [
                "the text of <hex> is not hexadecimal, as its type says",
                "the text of <@hexes> is not hexadecimal, as its type says",
            ])
        #expect(
            rejected.map(\.representation) == [
                #"{"id":1,"hex":{"hexBinary":"0aF"}}"#, #"{"@hexes":{"hexBinary":"xy"},"id":3}"#,
            ])
    }

    @Test func `an empty element is a record without members`() throws {
        #expect(try scan("emptyrecord").records == ["{}"])
    }

    @Test func `a choice that repeats and lists of lists keep all they have`() throws {
        #expect(
            try scan("choice").records == [
                #"{"id":1,"red":["a","b"],"blue":[1],"row":[{"cell":[1,2]},{},{"cell":[3]}]}"#
            ])
    }

    @Test func `references lead to the list, its records and their values`() throws {
        #expect(try scan("refs").records == [#"{"id":7,"name":"n"}"#])
    }

    @Test(arguments: ["accepted", "nocontent"])
    func `a success without an envelope is an error, not an empty listing`(name: String) throws {
        let error = try bridgeError { _ = try scan(name) }
        #expect(error.code == .malformed, "\(error)")
    }

    @Test func `a service of the other version is reported, with the remedy`() throws {
        let mismatch = try bridgeError { _ = try scan("otherversion", options: ["soap_version": "1.2"]) }
        #expect(mismatch.remote?.contains("VersionMismatch: speak 1.1") == true, "\(mismatch)")
        #expect(mismatch.remedy?.contains("soap_version") == true, "\(mismatch)")
        let type = try bridgeError { _ = try scan("unsupported") }
        #expect(type.remedy?.contains(#"soap_version to "1.2""#) == true, "\(type)")
    }

    @Test func `pages, other documents and a second document are named as what they are`() throws {
        #expect(try bridgeError { _ = try scan("page") }.message.contains("a web page"))
        #expect(try bridgeError { _ = try scan("outer") }.message.contains("<html>"))
        #expect(try bridgeError { _ = try scan("twice") }.message.contains("not well-formed"))
    }

    @Test func `a fault is recognized under any media type, and what is wrong with an envelope is reported`() throws {
        let fault = try bridgeError { _ = try scan("faultpage") }
        #expect(fault.remote == "Server.Busy: no disk", "\(fault)")
        #expect(try bridgeError { _ = try scan("otherenvelope") }.message.contains(#"of the namespace "urn:nonsense""#))
        #expect(try bridgeError { _ = try scan("cut") }.message.contains("it ends inside <"))
    }

    @Test func `a message of parts without the part that it names is an error`() throws {
        let error = try bridgeError { _ = try scan("noroot") }
        #expect(error.message.contains("no part with an envelope"), "\(error)")
    }

    @Test func `members of a list under another name are its records, and that is reported`() throws {
        let scan = try scan("renamed")
        #expect(scan.records == [#"{"id":1}"#, #"{"id":2}"#])
        #expect(scan.pages.last?.warnings.first?.contains("<other> occurs in a list") == true)
    }

    @Test func `another element beside the records of a list is not a record, and that is reported`() throws {
        let scan = try scan("beside")
        #expect(scan.records == [#"{"id":1}"#, #"{"id":2}"#])
        let warnings = scan.pages.flatMap(\.warnings).joined()
        #expect(warnings.contains("<removed> is not in the schema; <summary> is not in the schema"), "\(warnings)")
        #expect(scan.pages.last?.isComplete == false)
        #expect(warnings.contains("the list of <item> also has <removed>, which is not in the schema"), "\(warnings)")
        let whole = try self.scan("beside", ["paging": ["style": "none"]])
        #expect(whole.records == scan.records && whole.pages.last?.isComplete == true)
        #expect(try self.scan("plainbeside").pages.last?.isComplete == true)
    }

    @Test(arguments: [
        ("renamedtwo", [#"{"id":1}"#, #"{"id":2}"#], "the list of <other> also has <more>"),
        ("infofirst", [#"{"id":0}"#], "the list of <info> also has <other>"),
    ])
    func `a list of elements of several names that the schema lacks is not complete`(
        name: String, records: [String], words: String
    ) throws {
        let sections: [Literal] = [[:], ["paging": ["style": "none"]]]
        for section in sections {
            let scan = try scan(name, section)
            #expect(scan.records == records)
            #expect(scan.pages.last?.isComplete == false)
            let warnings = scan.pages.flatMap(\.warnings).joined()
            #expect(warnings.contains(words), "\(warnings)")
        }
    }

    @Test func `a text before records of a name that the schema lacks is not the first of them`() throws {
        let scan = try scan("summaryfirst")
        #expect(scan.records == [#"{"id":1}"#, #"{"id":2}"#])
        #expect(scan.pages.last?.isComplete == true)
        let warnings = scan.pages.flatMap(\.warnings).joined()
        #expect(warnings.contains("<summary> is not in the schema"), "\(warnings)")
        #expect(warnings.contains("<other> occurs in a list"), "\(warnings)")
        let only = try self.scan("summaryonly")
        #expect(only.records.isEmpty && only.pages.last?.isComplete == false)
    }

    @Test func `a reply that is nil is not an empty listing unless that is said`() throws {
        let scan = try scan("nilresponse")
        #expect(scan.records.isEmpty && scan.pages.last?.isComplete == false)
        #expect(
            scan.pages.flatMap(\.warnings) == [
                "the reply's <ListResponse> is xsi:nil, which says nothing about the records, so nothing counts as deleted: if "
                    + "that is an empty list, write paging: {style: none}"
            ])
        let whole = try self.scan("nilresponse", ["paging": ["style": "none"]])
        #expect(whole.pages.last?.isComplete == true && whole.pages.flatMap(\.warnings).isEmpty)
    }

    @Test func `a reply that leads elsewhere than the records is not a complete listing`() throws {
        let scan = try scan("strangers")
        #expect(scan.records.isEmpty)
        #expect(scan.pages.last?.isComplete == false)
        #expect(scan.pages.last?.warnings.first?.contains("<entries>") == true, "\(scan.pages)")
    }

    // MARK: WSDLs

    @Test func `a WSDL and schema without a target namespace are read`() throws {
        let wsdl = Self.wsdl(target: "", prefix: "").replacing(#" xmlns="http://schemas.xmlsoap.org/wsdl/""#, with: "")
            .replacing("<definitions", with: "<w:definitions").replacing("</definitions", with: "</w:definitions")
            .replacing("types>", with: "w:types>").replacing("</w:w:types>", with: "</w:types>").replacing(
                "</types", with: "</w:types")
        #expect(try scan("good", wsdl: wsdl.replacing("</w:", with: "</w:")).records == [Self.good])
    }

    @Test func `only SOAP 1.2, and unqualified elements, are spoken as the WSDL says`() throws {
        let wsdl = Self.wsdl(form: "unqualified", soap: "http://schemas.xmlsoap.org/wsdl/soap12/")
        #expect(try scan("declared12", wsdl: wsdl).records == [Self.good])
    }

    @Test func `imports in folders lead on from where each document is`() throws {
        let folder = server.folder
        for name in ["main", "types"] {
            try FileManager.default.createDirectory(
                atPath: folder.appending("schemas/\(name)"), withIntermediateDirectories: true)
        }
        try folder.write(
            #"<xs:schema targetNamespace="urn:s" elementFormDefault="qualified" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:s"><xs:include schemaLocation="../types/item%20type.xsd"/><xs:complexType name="Items"><xs:sequence><xs:element name="item" type="t:Item" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType><xs:element name="List"/><xs:element name="ListResponse"><xs:complexType><xs:sequence><xs:element name="items" type="t:Items"/></xs:sequence></xs:complexType></xs:element></xs:schema>"#,
            to: "schemas/main/list.xsd")
        try folder.write(
            #"<xs:schema targetNamespace="urn:s" elementFormDefault="qualified" xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:include schemaLocation="../main/list.xsd"/>\#(Self.item)</xs:schema>"#,
            to: "schemas/types/item type.xsd")
        let wsdl = Self.wsdl(
            schema: #"<xs:schema><xs:import namespace="urn:s" schemaLocation="./schemas/./main/list.xsd"/></xs:schema>"#
        )
        #expect(try scan("good", wsdl: wsdl).records == [Self.good])
    }

    @Test func `of several ports the option names one, and a wrong name is answered with all`() throws {
        let port =
            #"<w:port name="Get" binding="t:B"><h:address xmlns:h="http://schemas.xmlsoap.org/wsdl/http/" location="x"/></w:port><w:port name="Backup" binding="t:B"><soap:address location="http://127.0.0.1:2/"/></w:port>"#
        #expect(try scan("good", wsdl: Self.wsdl(port: port), options: ["port": "Backup"]).records == [Self.good])
        let error = try bridgeError { _ = try scan("good", wsdl: Self.wsdl(port: port), options: ["port": "Bakup"]) }
        #expect(error.remedy?.hasPrefix(#"its SOAP ports: "Backup""#) == true, "\(error)")
    }
}
