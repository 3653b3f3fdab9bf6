import Testing
import TestSupport

@testable import SOAPBridge

/// Names that documents define, and those that they lack.
@Suite struct DefinitionTableTests {
    @Test func `a name is found by its local part where it is the only one, and a missing one without a search`() {
        var table = DefinitionTable<Int>()
        for number in 0..<1000 { table[QName("urn:a", "n\(number)")] = number }
        table[QName("urn:b", "n7")] = -7
        #expect(table[QName("urn:a", "n7")] == 7 && table[QName("urn:c", "n7")] == nil)
        // What a look-up by the local part looks at is this, and no more.
        #expect(table.names(local: "gone").isEmpty && table.only(local: "gone") == nil)
        #expect(table.names(local: "n7") == [QName("urn:a", "n7"), QName("urn:b", "n7")])
        #expect(table.only(local: "n7") == nil)
        #expect(table.names(local: "n8") == [QName("urn:a", "n8")])
        #expect(table.only(local: "n8")?.name == QName("urn:a", "n8") && table.only(local: "n8")?.value == 8)
    }

    @Test func `a value that takes the place of another or goes is not one more of its name`() {
        var table = DefinitionTable<Int>()
        table[QName("urn:a", "x")] = 1
        table[QName("urn:a", "x")] = 2
        #expect(table.only(local: "x")?.value == 2)
        table[QName("urn:b", "x")] = 3
        table[QName("urn:a", "x")] = nil
        #expect(table.only(local: "x")?.value == 3 && table.all == [QName("urn:b", "x"): 3])
    }

    /// Each name compared with each other would be 2 billion steps, many minutes.
    @Test func `a WSDL whose references all lead nowhere is read`() throws {
        let count = 20_000
        func each(_ text: (Int) -> String) -> String { (0..<count).map(text).joined() }
        let wsdl = """
            <definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
              xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" xmlns:gone="urn:gone" targetNamespace="urn:t">
            <types><xs:schema targetNamespace="urn:t">
            \(each { "<xs:element name=\"e\($0)\" type=\"xs:int\"/><xs:complexType name=\"c\($0)\"/>" })
            </xs:schema></types>
            <message name="m"><part name="p" type="xs:int"/></message>
            \(each { "<message name=\"m\($0)\"><part name=\"p\" element=\"gone:g\($0)\" type=\"gone:h\($0)\"/></message>" })
            <portType name="P">
            \(each { "<operation name=\"o\($0)\"><input message=\"t:m\($0)\"/><output message=\"gone:m_\($0)\"/></operation>" })
            </portType>
            <portType name="Q"><operation name="lent"><input message="t:m"/></operation></portType>
            <binding name="B" type="t:P"><soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/>
            \(each { "<operation name=\"o\($0)\"/><operation name=\"lost\($0)\"/>" })
            <operation name="lent"/></binding>
            <service name="S"><port name="p" binding="gone:B"><soap:address location="http://127.0.0.1/"/></port>
            \(each { "<port name=\"p\($0)\" binding=\"gone:b\($0)\"/>" })</service></definitions>
            """
        let definition = try Samples.load(["http://a.example/s.wsdl": wsdl])
        let port = try #require(definition.services.first?.ports.first)
        #expect(definition.services.first?.ports.count == 1 && port.operations.count == 2 * count + 1)
        #expect(try port.operation("o7").input.elements.count == 1)
        #expect(throws: (any Error).self) { try port.operation("lost7") }
        #expect(try port.operation("lent").input.elements.count == 1, "another port type has it")
    }
}
