import BridgeKit
import Testing
import TestSupport

@testable import SOAPBridge

@Suite struct EnvelopeWriterTests {
    private func body(
        _ input: InputValue, operation: String = "List", form: String = "qualified", version: SOAPVersion = .v11,
        schemas: String = ""
    ) throws -> String {
        let definition = try Samples.load(schemas: schemas, form: form)
        let port = try definition.port(service: nil, port: nil, version: nil).1
        let (bytes, _) = try EnvelopeWriter.write(
            port.operation(operation), version: version, input: input, schemas: definition.schemas)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func object(_ members: KeyValuePairs<String, InputValue>) -> InputValue {
        .object(members.map { InputValue.Member(name: $0.key, value: $0.value) })
    }

    @Test func `elements come in schema order, qualified and escaped`() throws {
        let input = object([
            "tag": .array([.text("a"), .text("b")]), "offset": .text("0"),
            "filter": object(["name": .text("<R&D>\r\""), "@lang": .text("d\"e\n\t")]),
        ])
        #expect(
            try body(input) == """
                <?xml version="1.0" encoding="UTF-8"?>
                <soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/" xmlns:n1="urn:s"><soap:Body><n1:List>\
                <n1:filter lang="d&quot;e&#10;&#9;"><n1:name>&lt;R&amp;D&gt;&#13;&quot;</n1:name></n1:filter>\
                <n1:offset>0</n1:offset><n1:tag>a</n1:tag><n1:tag>b</n1:tag></n1:List></soap:Body></soap:Envelope>
                """)
    }

    @Test func `an unqualified schema has a qualified wrapper and bare children`() throws {
        let text = try body(object(["offset": .text("5")]), form: "unqualified", version: .v12)
        #expect(text.contains("http://www.w3.org/2003/05/soap-envelope"))
        #expect(text.contains("<n1:List><offset>5</offset></n1:List>"))
    }

    @Test func `rpc wraps its parts in the operation's name and the binding's namespace`() throws {
        let text = try body(object(["count": .text("2"), "text": .text("x")]), operation: "Echo")
        #expect(text.contains(#"xmlns:n1="urn:rpc""#))
        #expect(text.contains("<n1:Echo><text>x</text><count>2</count></n1:Echo>"))
    }

    @Test func `null is nil, and a nillable element that is required comes by itself`() throws {
        let nilName = #"<n1:name xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"/>"#
        #expect(try body(object(["filter": object(["name": .null])])).contains(nilName))
        #expect(try body(object(["filter": object([:])])).contains(nilName))
    }

    @Test func `a type that two namespaces have is asked for by its own`() throws {
        func derived(_ namespace: String, base: String) -> String {
            """
            <xs:schema targetNamespace="\(namespace)" xmlns:t="urn:s"><xs:complexType name="Wide"><xs:complexContent>
            <xs:extension base="\(base)"><xs:sequence/></xs:extension></xs:complexContent></xs:complexType></xs:schema>
            """
        }
        func filter(_ type: String) -> InputValue {
            object(["filter": object(["@xsi:type": .text(type), "name": .text("a")])])
        }
        let both = derived("urn:x", base: "t:Filter") + derived("urn:y", base: "t:Filter")
        let error = try bridgeError { _ = try body(filter("Wide"), schemas: both) }
        #expect(error.message.hasSuffix("has the xsi:type \"Wide\", which 2 types have as their name"), "\(error)")
        #expect(error.remedy == "write one of them with its namespace: {urn:x}Wide, {urn:y}Wide")
        let named = try body(filter("{urn:y}Wide"), schemas: both)
        #expect(named.contains(#"="urn:y""#) && !named.contains("urn:x") && named.contains(":Wide\""), "\(named)")
        // Of two, the one that may stand there is meant.
        let one = derived("urn:x", base: "t:Thing") + derived("urn:y", base: "t:Filter")
        let fitting = try body(filter("Wide"), schemas: one)
        #expect(fitting.contains(#"="urn:y""#) && !fitting.contains("urn:x"), "\(fitting)")
    }

    @Test func `an attribute of a namespace beside a simple value is sent, and another is refused`() throws {
        let offset = object(["offset": object(["#text": .text("5"), "@{urn:x}unit": .text("rows")])])
        let sent = try body(offset)
        #expect(sent.contains(#"unit="rows">5<"#) && sent.contains(#"="urn:x""#), "\(sent)")
        let error = try bridgeError {
            _ = try body(object(["offset": object(["#text": .text("5"), "@unit": .text("rows")])]))
        }
        #expect(error.message == #"List/offset has no attribute "unit""#)
        // An attribute of the schema and one of a namespace with its name.
        let both = object(["filter": object(["@lang": .text("de"), "@{urn:x}lang": .text("en"), "name": .text("a")])])
        let pair = try body(both)
        #expect(pair.contains(#" lang="de""#) && pair.contains(#":lang="en""#), "\(pair)")
        let prefixed = try bridgeError { _ = try body(object(["filter": object(["@x:lang": .text("en")])])) }
        #expect(prefixed.message == #"List/filter has no attribute "x:lang""#)
    }

    @Test func `a name that the schema does not have is named with the valid ones`() throws {
        let error = try bridgeError { _ = try body(object(["ofset": .text("1")])) }
        #expect(error.message == #"List has no element "ofset" (did you mean "offset"?)"#)
        #expect(error.remedy == #"its elements: "offset", "limit", "filter", "tag""#)
        #expect(
            try bridgeError { _ = try body(object(["filter": object(["@x": .text("")])])) }.remedy
                == #"its attributes: "lang""#)
    }

    @Test func `values of another shape than the schema's are refused`() throws {
        #expect(
            try bridgeError { _ = try body(object(["offset": .array([.text("1"), .text("2")])])) }.message.contains(
                "one value"))
        #expect(
            try bridgeError { _ = try body(object(["offset": object(["a": .text("1")])])) }.message.contains(
                "takes a text"))
        #expect(try bridgeError { _ = try body(object(["filter": .text("x")])) }.message.contains("takes an object"))
        #expect(try bridgeError { _ = try body(object(["tag": .text("\u{1}")])) }.message.contains("U+1"))
    }

    @Test func `a paging value goes where its path says`() throws {
        let input = object(["a": object(["b": .text("old")])])
        #expect(try input.setting(["a", "c"], to: "1") == object(["a": object(["b": .text("old"), "c": .text("1")])]))
        #expect(try input.setting(["a", "b"], to: "1") == object(["a": object(["b": .text("1")])]))
        #expect(
            try input.setting(["x", "y"], to: "1")
                == object(["a": object(["b": .text("old")]), "x": object(["y": .text("1")])]))
        #expect(try bridgeError { _ = try input.setting(["a", "b", "c"], to: "1") }.code == .configuration)
    }

    @Test func `required elements that the input lacks are reported`() throws {
        let definition = try Samples.load()
        let port = try definition.port(service: nil, port: nil, version: nil).1
        let missing = try EnvelopeWriter.write(
            port.operation("List"), version: .v11, input: .object([]), schemas: definition.schemas
        ).missing
        #expect(missing == ["List/offset"])
    }
}
