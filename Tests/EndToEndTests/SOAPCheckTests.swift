import TestSupport
import Testing

extension EndToEndTests {
    /// `check --remote` holds a config against a WSDL; no service answers here.
    @Suite struct SOAPCheckTests {
        let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
            try folder.write(
                #"""
                <definitions targetNamespace="urn:c" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:c"
                    xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
                  <types><xs:schema targetNamespace="urn:c" elementFormDefault="qualified">
                    <xs:complexType name="Item"><xs:sequence><xs:element name="id" type="xs:int"/>
                      <xs:element name="owner"><xs:complexType><xs:sequence><xs:element name="name" type="xs:string"/></xs:sequence></xs:complexType></xs:element>
                    </xs:sequence><xs:attribute name="code" type="xs:string"/></xs:complexType>
                    <xs:complexType name="Book"><xs:complexContent><xs:extension base="t:Item"><xs:sequence>
                      <xs:element name="pages" type="xs:int"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
                    <xs:element name="ListItems"><xs:complexType><xs:sequence>
                      <xs:element name="offset" type="xs:int"/></xs:sequence></xs:complexType></xs:element>
                    <xs:element name="ListItemsResponse"><xs:complexType><xs:sequence>
                      <xs:element name="item" type="t:Item" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
                  </xs:schema></types>
                  <message name="In"><part name="p" element="t:ListItems"/></message>
                  <message name="Out"><part name="p" element="t:ListItemsResponse"/></message>
                  <portType name="P"><operation name="ListItems"><input message="t:In"/><output message="t:Out"/></operation></portType>
                  <binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
                    <operation name="ListItems"><soap:operation soapAction=""/><input><soap:body use="literal"/></input>
                      <output><soap:body use="literal"/></output></operation></binding>
                  <service name="S"><port name="A" binding="t:B"><soap:address location="http://127.0.0.1:1/"/></port></service>
                </definitions>
                """#, to: "catalog.wsdl")
        }

        private func check(_ soap: String, attributes: String = "{id: integer}") async throws -> ProcessRun {
            try folder.write(
                """
                version: 1
                bridges: {c: {plugin: soap, options: {wsdl: ./catalog.wsdl, wsdl_cache: ""}}}
                entities:
                  Item: {bridge: c, key: id, attributes: \(attributes), soap: {\(soap)}}

                """, to: "bmo.yml")
            // From elsewhere: the WSDL's path begins at the configuration's folder.
            return try await ProcessRun.run(
                BuiltCommand.path(), ["check", "--remote", "-f", folder.appending("bmo.yml")], directory: "/")
        }

        private static let good = "operation: ListItems, records: ListItemsResponse/item, input: {offset: 0}"

        @Test func `a correct config is confirmed, with what would be called`() async throws {
            let run = try await check(
                Self.good,
                attributes:
                    "{id: integer, code: {type: text, from: '@code'}, owner: {type: text, from: owner.name}, pages: integer}"
            )
            #expect(run.exitCode == 0, "\(run)")
            #expect(run.output.contains("port A (SOAP 1.1) with 1 operations, at http://127.0.0.1:1/"), "\(run)")
            #expect(run.errorOutput.isEmpty, "\(run)")
        }

        @Test(arguments: [
            ("operation: ListItem, records: a", [#"no operation "ListItem""#, #"did you mean "ListItems""#]),
            ("operation: ListItems, records: ListItemsResponse/items", [#"names "items""#, #"its elements: "item""#]),
            ("operation: ListItems, records: ListItemsResponse/item, input: {ofset: 0}", [#"did you mean "offset""#]),
            (
                "operation: ListItems, records: ListItemsResponse/item, paging: {style: page, page_element: page}",
                [#"no element "page""#, #"its elements: "offset""#]
            ),
            ("\(good), write: {create: {operation: AddItem}}", ["write.create", #"no operation "AddItem""#]),
        ])
        func `what the WSDL lacks is an error that names what there is`(soap: String, words: [String]) async throws {
            let run = try await check(soap)
            #expect(run.exitCode == 1, "\(run)")
            for word in words + ["Item: c: "] { #expect(run.errorOutput.contains(word), "\(run)") }
        }

        @Test func `attributes that no record has, and input that is missing, are warnings`() async throws {
            let run = try await check(
                "operation: ListItems, records: ListItemsResponse/item",
                attributes: "{id: integer, colour: text, owner: {type: text, from: owner.nam}}")
            #expect(run.exitCode == 0, "\(run)")
            for words in [
                #"attribute "colour" reads "colour", but the records have no "colour"; they have: @xsi:type, @code, id, owner, pages"#,
                #""owner" of the records have no "nam"; they have: name"#,
                "the input lacks what the schema requires: ListItems/offset",
            ] {
                #expect(run.errorOutput.contains(words), "\(run)")
            }
        }
    }
}
