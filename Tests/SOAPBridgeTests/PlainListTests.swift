import BridgeKit
import Testing
import TestSupport

@testable import SOAPBridge

/// `wrapped_lists: plain`: what a wrapper such as `ArrayOfString` holds is the list itself.
@Suite struct PlainListTests {
    private static let schema = """
        <xs:schema targetNamespace="urn:x" xmlns:t="urn:s" xmlns:x="urn:x" elementFormDefault="qualified">
          <xs:complexType name="Box"><xs:complexContent><xs:extension base="t:Item"><xs:sequence>
            <xs:element name="rows" type="x:ArrayOfArrayOfint" minOccurs="0" nillable="true"/>
            <xs:element name="lines" type="x:ArrayOfLine" minOccurs="0"/>
          </xs:sequence></xs:extension></xs:complexContent></xs:complexType>
          <xs:complexType name="ArrayOfArrayOfint"><xs:sequence>
            <xs:element name="ArrayOfint" type="x:ArrayOfint" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType>
          <xs:complexType name="ArrayOfint"><xs:sequence>
            <xs:element name="int" type="xs:int" minOccurs="0" maxOccurs="unbounded" nillable="true"/></xs:sequence></xs:complexType>
          <xs:complexType name="ArrayOfLine"><xs:sequence>
            <xs:element name="Line" type="x:Line" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType>
          <xs:complexType name="Line"><xs:sequence><xs:element name="sku" type="xs:string"/></xs:sequence></xs:complexType>
        </xs:schema>
        """

    private func read(_ content: String, unwraps: Bool = true) throws -> String {
        let definition = try Samples.load(schemas: Self.schema)
        let port = try definition.port(service: nil, port: nil, version: nil).1
        let plan = try ReplyPlan(
            operation: try port.operation("List"), schemas: definition.schemas,
            records: ["ListResponse", "items", "item"], unwraps: unwraps)
        let box = "<n:item xsi:type=\"x:Box\" xmlns:x=\"urn:x\"><n:id>1</n:id>\(content)</n:item>"
        let outcome = try Samples.read(Samples.list(box), plan)
        if let error = outcome.error { throw error }
        return try #require(outcome.records.first).replacing(#"{"@xsi:type":"{urn:x}Box","id":1"#, with: "{")
    }

    @Test(arguments: [
        (
            "<x:rows><x:ArrayOfint><x:int>1</x:int><x:int xsi:nil='1'/></x:ArrayOfint>\n <x:ArrayOfint/></x:rows>",
            "[[1,null],[]]"
        ),
        ("<x:rows/>", "[]"), ("<x:rows xsi:nil='true'/>", "null"),
        ("<x:rows xsi:type='x:ArrayOfArrayOfint'> </x:rows>", "[]"),
        // What a list has no place for is not lost.
        (
            "<x:rows><x:ArrayOfint/><x:more>2</x:more></x:rows>", #"{"ArrayOfint":[[]],"more":"2"}"#
        ),
        ("<x:rows>loose</x:rows>", ##"{"#text":"loose"}"##),
    ])
    func `a wrapper is its list, at any depth`(content: String, expected: String) throws {
        #expect(try read(content) == #"{,"rows":\#(expected)}"#)
    }

    @Test func `objects in a wrapper are a list of objects, and without the option nothing changes`() throws {
        let lines = "<x:lines><x:Line><x:sku>a</x:sku></x:Line><x:Line><x:sku>b</x:sku></x:Line></x:lines>"
        #expect(try read(lines) == #"{,"lines":[{"sku":"a"},{"sku":"b"}]}"#)
        #expect(try read(lines, unwraps: false) == #"{,"lines":{"Line":[{"sku":"a"},{"sku":"b"}]}}"#)
        #expect(try read("<x:rows/>", unwraps: false) == #"{,"rows":{}}"#)
    }

    @Test func `check knows the paths of plain lists, and the section's words`() throws {
        let definition = try Samples.load(schemas: Self.schema)
        let port = try definition.port(service: nil, port: nil, version: nil).1
        func fields(_ unwraps: Bool) throws -> [String] {
            ReplyPaths(try port.operation("List"), definition.schemas, unwraps: unwraps)
                .fields(["ListResponse", "items", "item"])
        }
        #expect(try fields(true).contains("lines/sku") && !fields(true).contains("lines/Line"))
        #expect(try fields(false).contains("lines/Line/sku"))
        let section: Literal = ["operation": "List", "records": "a", "wrapped_lists": "list"]
        let error = try bridgeError { _ = try SOAPSection(section.options) }
        #expect(error.remedy == "use member or plain")
    }
}
