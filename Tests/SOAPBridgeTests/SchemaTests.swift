import BridgeKit
import Testing
import TestSupport

@testable import SOAPBridge

/// What XML Schema can say, and what services get wrong about it.
@Suite struct SchemaTests {
    private func schemas(_ text: String, attributes: String = "") throws -> WSDLDefinition {
        try Samples.load(
            schemas: """
                <xs:schema targetNamespace="urn:g" xmlns:g="urn:g" xmlns:xs="http://www.w3.org/2001/XMLSchema" \(attributes)>
                \(text)</xs:schema>
                """)
    }

    private func complex(_ name: String, _ definition: WSDLDefinition, _ namespace: String = "urn:g") throws
        -> ComplexType
    {
        let id = try #require(definition.schemas.typeNames[QName(namespace, name)])
        guard case .complex(let type) = definition.schemas[id] else { throw BridgeError(.internal, "not complex") }
        return type
    }

    @Test func `a reference to a head allows its whole substitution group`() throws {
        let type = try complex(
            "Zoo",
            schemas(
                """
                <xs:element name="animal" type="g:Animal" abstract="true"/>
                <xs:element name="dog" type="g:Dog" substitutionGroup="g:animal"/>
                <xs:element name="puppy" substitutionGroup="g:dog"/>
                <xs:complexType name="Animal" abstract="true"><xs:sequence><xs:element name="age" type="xs:int"/></xs:sequence></xs:complexType>
                <xs:complexType name="Dog"><xs:complexContent><xs:extension base="g:Animal"/></xs:complexContent></xs:complexType>
                <xs:complexType name="Zoo"><xs:sequence><xs:element ref="g:animal" maxOccurs="9"/><xs:element name="last" type="xs:int"/>
                </xs:sequence></xs:complexType>
                """))
        #expect(type.children.map(\.name.local) == ["dog", "puppy", "last"])
        #expect(type.children.map(\.isRepeated) == [true, true, false])
        #expect(type.children[0].type == type.children[1].type)
    }

    @Test func `lists, unions and enumerations keep what they are made of`() throws {
        let definition = try schemas(
            """
            <xs:simpleType name="Numbers"><xs:list itemType="xs:int"/></xs:simpleType>
            <xs:simpleType name="Color"><xs:restriction base="xs:string"><xs:enumeration value="red"/><xs:enumeration value="blue"/>
            </xs:restriction></xs:simpleType>
            <xs:simpleType name="Colors"><xs:list><xs:simpleType><xs:restriction base="g:Color"/></xs:simpleType></xs:list></xs:simpleType>
            <xs:simpleType name="Same"><xs:union memberTypes="xs:int xs:short"/></xs:simpleType>
            <xs:simpleType name="Mixed"><xs:union memberTypes="xs:int g:Color"/></xs:simpleType>
            <xs:simpleType name="Day"><xs:restriction base="xs:date"/></xs:simpleType>
            """)
        func simple(_ name: String) throws -> (SimpleKind, SimpleDetail) {
            let id = try #require(definition.schemas.typeNames[QName("urn:g", name)])
            guard case .simple(let kind) = definition.schemas[id] else { throw BridgeError(.internal, "not simple") }
            return (kind, definition.schemas.detail(id))
        }
        #expect(try simple("Numbers") == (.integer, SimpleDetail(builtIn: "int", isList: true)))
        #expect(try simple("Color") == (.text, SimpleDetail(builtIn: "string", enumeration: ["red", "blue"])))
        #expect(try simple("Colors").1 == SimpleDetail(builtIn: "string", enumeration: ["red", "blue"], isList: true))
        #expect(try simple("Same").0 == .integer)
        #expect(try simple("Mixed").0 == .text)
        #expect(try simple("Day").1.builtIn == "date")
    }

    @Test func `a redefinition stands on what it redefines`() throws {
        let definition = try Samples.load([
            "http://a.example/s.wsdl": Samples.wsdl(
                schemas: """
                    <xs:schema targetNamespace="urn:r" xmlns:r="urn:r"><xs:redefine schemaLocation="base.xsd">
                      <xs:complexType name="T"><xs:complexContent><xs:extension base="r:T"><xs:sequence>
                        <xs:element name="b" type="xs:int"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
                      <xs:group name="G"><xs:sequence><xs:group ref="r:G"/><xs:element name="d" type="xs:int"/></xs:sequence></xs:group>
                    </xs:redefine><xs:complexType name="U"><xs:group ref="r:G"/></xs:complexType></xs:schema>
                    """),
            "http://a.example/base.xsd": """
            <xs:schema targetNamespace="urn:r" xmlns:xs="http://www.w3.org/2001/XMLSchema">
              <xs:complexType name="T"><xs:sequence><xs:element name="a" type="xs:int"/></xs:sequence></xs:complexType>
              <xs:group name="G"><xs:sequence><xs:element name="c" type="xs:int"/></xs:sequence></xs:group></xs:schema>
            """,
        ])
        #expect(try complex("T", definition, "urn:r").children.map(\.name.local) == ["a", "b"])
        #expect(try complex("U", definition, "urn:r").children.map(\.name.local) == ["c", "d"])
        #expect(definition.notes == [])
    }

    @Test func `a chameleon's references without a prefix mean the including schema`() throws {
        let definition = try Samples.load([
            "http://a.example/s.wsdl": Samples.wsdl(
                schemas: #"<xs:schema targetNamespace="urn:r"><xs:include schemaLocation="c.xsd"/></xs:schema>"#),
            "http://a.example/c.xsd": """
            <xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified">
            <xs:complexType name="A"><xs:sequence><xs:element name="b" type="B"/></xs:sequence></xs:complexType>
            <xs:complexType name="B"><xs:sequence><xs:element name="x" type="xs:int"/></xs:sequence></xs:complexType></xs:schema>
            """,
        ])
        let child = try #require(try complex("A", definition, "urn:r").children.first)
        #expect(child.name == QName("urn:r", "b"))
        #expect(child.type == definition.schemas.typeNames[QName("urn:r", "B")])
        #expect(definition.notes == [])
    }

    @Test func `attributes know their namespace, whether they must be there, and their default`() throws {
        let type = try complex(
            "T",
            schemas(
                """
                <xs:attribute name="global" type="xs:int"/>
                <xs:complexType name="T"><xs:attribute ref="g:global" use="required"/><xs:attribute ref="xml:lang"/>
                  <xs:attribute name="local" default="7" type="xs:int"/><xs:attribute name="q" form="qualified" fixed="f"/>
                  <xs:attribute name="never" use="prohibited"/><xs:anyAttribute/></xs:complexType>
                """))
        #expect(type.attributes.map(\.name) == ["global", "lang", "local", "q"])
        #expect(type.attributes.map(\.namespace) == ["urn:g", Namespace.xml, "", "urn:g"])
        #expect(type.attributes.map(\.isRequired) == [true, false, false, false])
        #expect(type.attributes.map(\.value) == [nil, nil, "7", "f"])
        #expect(type.attributes[0].kind == .integer)
        #expect(type.isAttributeOpen)
    }

    @Test func `what is wrong and clear all the same is read, and noted`() throws {
        let definition = try schemas(
            """
            <xs:complexType name="T"><xs:sequence>
              <xs:element name="a" type="string"/><xs:element name="b" type="nowhere:Item"/><xs:element name="c" type="g:Gone"/>
              <xs:element name="d" type="g:int"/><xs:element ref="g:gone"/><xs:group ref="g:Gone"/>
            </xs:sequence></xs:complexType>
            """)
        let type = try complex("T", definition)
        let kinds = type.children.map { definition.schemas[$0.type] }
        guard case .simple(.text) = kinds[0], case .complex = kinds[1], case .any = kinds[2],
            case .simple(.integer) = kinds[3]
        else {
            Issue.record("\(kinds)")
            return
        }
        #expect(definition.notes.contains("there is no type Item: {urn:s}Item is used instead"), "\(definition.notes)")
        #expect(definition.notes.contains("no schema has the type {urn:g}Gone: inferred from the data"))
        #expect(definition.notes.contains("no schema has the type {urn:g}int: xs:int is used instead"))
        #expect(definition.notes.contains("no schema has the element {urn:g}gone: inferred from the data"))
        #expect(definition.notes.contains("no schema has the group {urn:g}Gone: inferred from the data"))
    }

    @Test func `the drafts of XML Schema and schemas without its prefix are read`() throws {
        let definition = try Samples.load(
            schemas: """
                <s:schema targetNamespace="urn:old" xmlns:s="http://www.w3.org/1999/XMLSchema">
                  <complexType name="T"><all><element name="a" type="s:timeInstant"/><element name="b" type="s:int"/></all></complexType>
                </s:schema>
                """)
        #expect(try complex("T", definition, "urn:old").children.map(\.name.local) == ["a", "b"])
        #expect(definition.notes == [])
    }

    @Test func `an element has the type of the head of its group, however far up`() throws {
        let count = 30_000
        let chain = (0..<count).map { "<xs:element name=\"e\($0)\" substitutionGroup=\"c:e\($0 + 1)\"/>" }.joined()
        let definition = try Samples.load(
            schemas: """
                <xs:schema targetNamespace="urn:c" xmlns:c="urn:c">\(chain)<xs:element name="e\(count)" type="xs:int"/>
                  <xs:element name="a" substitutionGroup="c:b"/><xs:element name="b" substitutionGroup="c:a"/></xs:schema>
                """)
        let first = try #require(definition.schemas.elements[QName("urn:c", "e0")])
        guard case .simple(.integer) = definition.schemas[first.type] else {
            Issue.record("\(definition.schemas[first.type])")
            return
        }
        #expect(definition.schemas.elements[QName("urn:c", "a")]?.type == definition.schemas.anyType)
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["sequence", "choice"])
    func `a type of many elements is read without comparing each with each`(group: String) throws {
        let elements = (0..<19_999).map { "<xs:element name=\"e\($0)\" type=\"xs:int\"/>" }.joined()
        let definition = try Samples.load(
            schemas: """
                <xs:schema targetNamespace="urn:m"><xs:complexType name="T"><xs:\(group)>\(elements)
                  <xs:element name="e7" type="xs:int"/></xs:\(group)></xs:complexType></xs:schema>
                """)
        let type = try complex("T", definition, "urn:m")
        #expect(type.children.count == 19_999)
        #expect(type.children[7].isRepeated == (group == "sequence"))
    }

    @Test func `a type has so many attributes and no more`() throws {
        let attributes = (0...2_000).map { "<xs:attribute name=\"a\($0)\" type=\"xs:int\"/>" }.joined()
        let error = try bridgeError {
            _ = try Samples.load(
                schemas:
                    "<xs:schema targetNamespace=\"urn:m\"><xs:complexType name=\"T\">\(attributes)</xs:complexType></xs:schema>"
            )
        }
        #expect(error.message == "a schema type has more than 2000 attributes")
    }

    @Test func `well-known schemas come with the bridge`() throws {
        let definition = try Samples.load(
            schemas: """
                <xs:schema targetNamespace="urn:w" xmlns:wsa="http://www.w3.org/2005/08/addressing"
                    xmlns:mime="http://www.w3.org/2005/05/xmlmime" xmlns:ref="http://ws-i.org/profiles/basic/1.1/xsd"
                    xmlns:ser="http://schemas.microsoft.com/2003/10/Serialization/" xmlns:ds="http://www.w3.org/2000/09/xmldsig#">
                  <xs:import namespace="http://www.w3.org/2005/08/addressing" schemaLocation="http://www.w3.org/2006/03/addressing/ws-addr.xsd"/>
                  <xs:import namespace="http://www.w3.org/2005/05/xmlmime"/>
                  <xs:complexType name="T"><xs:sequence><xs:element name="to" type="wsa:EndpointReferenceType"/>
                    <xs:element name="photo" type="mime:base64Binary"/><xs:element name="file" type="ref:swaRef"/>
                    <xs:element name="guid" type="ser:guid"/><xs:element ref="ds:Signature"/></xs:sequence></xs:complexType>
                </xs:schema>
                """)
        let type = try complex("T", definition, "urn:w")
        guard case .complex(let photo) = definition.schemas[type.children[1].type] else {
            Issue.record("photo is not complex")
            return
        }
        #expect(photo.text == .base64)
        #expect(photo.attributes.map(\.name) == ["contentType"])
        #expect(type.children.nonEmptyAllSatisfy { $0.type != definition.schemas.anyType })
        #expect(definition.notes == [])
    }

    @Test func `every bundled schema is well-formed and in its namespace`() throws {
        #expect(!BundledSchemas.texts.isEmpty)
        for (namespace, text) in BundledSchemas.texts {
            let root = try XMLElement.parse(Array(text.utf8), subject: namespace)
            #expect(root.name == QName(Namespace.schema, "schema"))
            #expect(root["targetNamespace"] == namespace)
            #expect(Namespace.wellKnown.contains(namespace))
        }
    }

    @Test func `an abstract type is written as the one that the input names`() throws {
        let definition = try Samples.load([
            "http://a.example/s.wsdl": Samples.wsdl(
                schemas: """
                    <xs:schema targetNamespace="urn:a" xmlns:a="urn:a">
                      <xs:complexType name="Shape" abstract="true"><xs:sequence><xs:element name="name" type="xs:string"/></xs:sequence></xs:complexType>
                      <xs:complexType name="Circle"><xs:complexContent><xs:extension base="a:Shape"><xs:sequence>
                        <xs:element name="r" type="xs:int"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
                      <xs:complexType name="Square"><xs:complexContent><xs:extension base="a:Shape"/></xs:complexContent></xs:complexType>
                    </xs:schema>
                    """
            ).replacing(
                #"<part name="text" type="xs:string"/>"#, with: #"<part name="shape" xmlns:a="urn:a" type="a:Shape"/>"#)
        ])
        let operation = try definition.port(service: nil, port: nil, version: nil).1.operation("Echo")
        func write(_ shape: InputValue) throws -> String {
            String(
                decoding: try EnvelopeWriter.write(
                    operation, version: .v11, input: .object([.init(name: "shape", value: shape)]),
                    schemas: definition.schemas
                ).bytes, as: UTF8.self)
        }
        let circle = try write(
            .object([
                .init(name: "r", value: .text("3")), .init(name: "@xsi:type", value: .text("Circle")),
                .init(name: "name", value: .text("c")),
            ]))
        #expect(circle.contains(#"xsi:type="n2:Circle"><name>c</name><r>3</r></shape>"#), "\(circle)")
        let error = try bridgeError { _ = try write(.object([])) }
        #expect(error.message == "Echo/shape is of the abstract type Shape")
        #expect(error.remedy?.contains(#""Circle", "Square""#) == true)
    }
}
