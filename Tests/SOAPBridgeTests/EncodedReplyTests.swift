import BridgeKit
import RecordBatch
import Testing
import TestSupport

@testable import SOAPBridge

/// Replies in SOAP encoding as other stacks write them, whatever the order of values and references.
@Suite struct EncodedReplyTests {
    private static let encoding = "http://schemas.xmlsoap.org/soap/encoding/"

    private func definition() throws -> WSDLDefinition {
        try Samples.load([
            "http://a.example/s.wsdl": """
            <definitions targetNamespace="urn:e" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:e"
                xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:enc="\(Self.encoding)"
                xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
              <types><xs:schema targetNamespace="urn:e">
                <xs:complexType name="Node"><xs:sequence><xs:element name="id" type="xs:int"/>
                  <xs:element name="next" type="t:Node" nillable="true"/><xs:element name="names" type="t:Names"/>
                </xs:sequence></xs:complexType>
                <xs:complexType name="Nodes"><xs:complexContent><xs:restriction base="enc:Array">
                  <xs:attribute ref="enc:arrayType" w:arrayType="t:Node[]"/></xs:restriction></xs:complexContent></xs:complexType>
                <xs:complexType name="Names"><xs:complexContent><xs:restriction base="enc:Array">
                  <xs:sequence><xs:element name="name" type="xs:decimal" maxOccurs="unbounded"/></xs:sequence>
                </xs:restriction></xs:complexContent></xs:complexType>
              </xs:schema></types>
              <message name="In"><part name="nodes" type="t:Nodes"/></message>
              <message name="Out"><part name="return" type="t:Nodes"/><part name="total" type="xs:int"/></message>
              <portType name="P"><operation name="get"><input message="t:In"/><output message="t:Out"/></operation></portType>
              <binding name="B" type="t:P"><soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/>
                <operation name="get"><soap:operation soapAction=""/>
                  <input><soap:body use="encoded" namespace="urn:e"/></input>
                  <output><soap:body use="encoded" namespace="urn:e"/></output></operation></binding>
              <service name="S"><port name="P" binding="t:B"><soap:address location="http://127.0.0.1/"/></port></service>
            </definitions>
            """
        ])
    }

    private func read(
        _ body: String, records: String = "getResponse/return/item", piece: Int = .max
    ) throws -> (records: [String], rejected: [String], tolerated: String?, total: Int64?) {
        let definition = try definition()
        let plan = try Samples.plan(definition, operation: "get", records: records, total: "getResponse/total")
        let outcome = try Samples.read(
            Samples.envelope(body).replacing(
                "<e:Envelope", with: "<e:Envelope xmlns:n=\"urn:e\" xmlns:enc=\"\(Self.encoding)\""), plan, piece: piece
        )
        if let error = outcome.error { throw error }
        return (
            outcome.records, outcome.reader.takeRejected().map(\.reason), outcome.reader.deviations.sentence,
            outcome.reader.total
        )
    }

    @Test func `Axis puts each object and even numbers after the reply`() throws {
        let body = """
            <n:getResponse e:encodingStyle="\(Self.encoding)"><return href="#id0"/><total href="#id9"/></n:getResponse>
            <multiRef id="id0" enc:root="0" xsi:type="enc:Array" enc:arrayType="n:Node[2]"><item href="#id1"/><item href="#id2"/></multiRef>
            <multiRef id="id2" enc:root="0" xsi:type="n:Node"><id href="#id3"/><next xsi:nil="true"/>
              <names xsi:type="enc:Array" enc:arrayType="xs:decimal[2]"><name>1.10</name><name href="#id8"/></names></multiRef>
            <multiRef id="id1" enc:root="0" xsi:type="n:Node"><id xsi:type="xs:int">1</id><next href="#id2"/></multiRef>
            <multiRef id="id3" enc:root="0" xsi:type="xs:int">2</multiRef>
            <multiRef id="id8">2.0</multiRef><multiRef id="id9" xsi:type="xs:int">2</multiRef>
            """
        let second = #"{"@xsi:type":"{urn:e}Node","id":2,"next":null,"names":[1.10,2.0]}"#
        for piece in [1, 7, Int.max] {
            let (records, rejected, tolerated, total) = try read(body, piece: piece)
            #expect(records == [#"{"@xsi:type":"{urn:e}Node","id":1,"next":\#(second)}"#, second])
            #expect(rejected.isEmpty && tolerated == nil)
            #expect(total == 2)
        }
    }

    @Test func `an object that stands inline is shared with what follows`() throws {
        let body = """
            <n:getResponse><return enc:arrayType="n:Node[2]"><item><id>1</id>
              <next id="a"><id>7</id><names/></next></item><item><id>2</id><next href="#a"/></item></return></n:getResponse>
            """
        #expect(
            try read(body).records == [
                #"{"id":1,"next":{"id":7,"names":[]}}"#, #"{"id":2,"next":{"id":7,"names":[]}}"#,
            ])
    }

    @Test func `version 1_2 refers by enc:ref and counts by arraySize`() throws {
        let body = """
            <n:getResponse xmlns:c="http://www.w3.org/2003/05/soap-encoding"><return c:itemType="n:Node" c:arraySize="2">
              <item c:id="x"><id>1</id></item><item c:ref="x"/></return></n:getResponse>
            """
        #expect(try read(body).records == [#"{"id":1}"#, #"{"id":1}"#])
    }

    @Test func `references in a circle and to nowhere are left out and reported`() throws {
        let body = """
            <n:getResponse><return><item href="#a"/><item href="#nowhere"/><item><id>5</id><next href="#gone"/></item></return>
            </n:getResponse><multiRef id="a"><id>1</id><next href="#b"/></multiRef><multiRef id="b"><id>2</id><next href="#a"/></multiRef>
            """
        let (records, rejected, tolerated, _) = try read(body)
        #expect(records == [#"{"id":1,"next":{"id":2}}"#, #"{"id":5}"#])
        #expect(rejected == ["the record refers to \"nowhere\", which is not in the reply"])
        #expect(tolerated?.contains("<next> refers to something that contains it") == true, "\(tolerated ?? "")")
        #expect(tolerated?.contains("<next> refers to something that is not in the reply") == true)
    }

    @Test func `references that multiply without an end are a limit`() throws {
        let nodes = (0..<60).map {
            "<multiRef id=\"n\($0)\"><a href=\"#n\($0 + 1)\"/><b href=\"#n\($0 + 1)\"/></multiRef>"
        }
        let error = try bridgeError {
            _ = try read(
                "<n:getResponse><return><item href=\"#n0\"/></return></n:getResponse>\(nodes.joined())<multiRef id=\"n60\">x</multiRef>"
            )
        }
        #expect(error.code == .limit)
    }

    @Test func `references to references that lead back, or to nowhere, bring nothing`() throws {
        let body = """
            <n:getResponse><return><item href="#a"/><item href="#c"/><item><id>5</id><next href="#a"/></item></return>
            </n:getResponse><multiRef id="a" href="#b"/><multiRef id="b" href="#a"/><multiRef id="c" href="#gone"/>
            """
        let (records, rejected, tolerated, _) = try read(body)
        #expect(records == [#"{"id":5,"next":null}"#])
        #expect(
            rejected == [
                "the record refers to \"a\", which leads back to itself",
                "the record refers to \"c\", which refers to something that is not in the reply",
            ])
        #expect(tolerated?.contains("<next> refers to something that contains it") == true, "\(tolerated ?? "")")
    }

    @Test func `references to references are followed as deep as a record may nest`() throws {
        func chain(_ count: Int) -> String {
            "<n:getResponse><return><item href=\"#i0\"/></return></n:getResponse>"
                + (0..<count).map { "<multiRef id=\"i\($0)\" href=\"#i\($0 + 1)\"/>" }.joined()
                + "<multiRef id=\"i\(count)\"><id>1</id></multiRef>"
        }
        #expect(try read(chain(100)).records == [#"{"id":1}"#])
        let error = try bridgeError { _ = try read(chain(100_000)) }
        #expect(error.code == .limit)
        #expect(error.message.contains("deeper than 120 levels of objects, lists and references"), "\(error)")
    }

    @Test func `what waits goes to disk and comes back in order`() throws {
        let count = 40_000
        let padding = String(repeating: "x", count: 150)
        let items = (0..<count).map { "<item href=\"#i\($0)\"/>" }.joined()
        let targets = (0..<count).map { "<multiRef id=\"i\($0)\"><id>\($0)</id><more>\(padding)</more></multiRef>" }
        let (records, _, _, _) = try read(
            "<n:getResponse><return>\(items)</return></n:getResponse>\(targets.reversed().joined())")
        #expect(records.count == count)
        #expect(records[12_345] == #"{"id":12345,"more":"\#(padding)"}"#)
        #expect(records.last?.hasPrefix(#"{"id":39999,"#) == true)
    }

    @Test func `places that an array leaves out are null, and an object with such an array is not sent back`() throws {
        let body = """
            <n:getResponse><return enc:arrayType="n:Node[2]">
              <item><id>1</id><names enc:arrayType="xs:decimal[5]" enc:offset="[2]"><name>1.5</name><name>2</name></names></item>
              <item><id>2</id><names enc:arrayType="xs:decimal[4]"><name enc:position="[1]">7</name>
                <name enc:position="[3]">8</name></names></item></return></n:getResponse>
            """
        #expect(
            try read(body).records == [
                #"{"id":1,"names":[null,null,1.5,2]}"#, #"{"id":2,"names":[null,7,null,8]}"#,
            ])
        let reader = try ReplyReader(
            plan: Samples.plan(definition(), operation: "get", records: "getResponse/return/item", total: ""),
            isExact: true)
        let writer = RecordBatchWriter()
        let reply = Samples.envelope(body).replacing(
            "<e:Envelope", with: "<e:Envelope xmlns:n=\"urn:e\" xmlns:enc=\"\(Self.encoding)\"")
        try reader.feed(Array(reply.utf8)[...], into: writer)
        try reader.finish()
        let batch = try writer.finish()
        let obstacles = withExtendedLifetime(batch) { (0..<batch.count).map { batch[$0]["#obstacle"]?.text ?? "" } }
        #expect(
            obstacles == Array(repeating: "it has an array that leaves out places (offset, position)", count: 2))
        let endless = body.replacing("[2]\"><name>", with: "[2000000000]\"><name>")
        #expect(try bridgeError { _ = try read(endless) }.code == .limit)
    }

    @Test func `a request names its types and counts its arrays`() throws {
        let definition = try definition()
        let port = try definition.port(service: nil, port: nil, version: nil).1
        let input = InputValue.object([
            .init(
                name: "nodes",
                value: .array([
                    .object([.init(name: "id", value: .text("1")), .init(name: "names", value: .array([.text("1.5")]))])
                ]))
        ])
        let text = String(
            decoding: try EnvelopeWriter.write(
                port.operation("get"), version: .v11, input: input, schemas: definition.schemas
            ).bytes, as: UTF8.self)
        #expect(text.contains(#"<n1:get soap:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/">"#), "\(text)")
        #expect(text.contains(#":Array" n2:arrayType="n1:Node[1]"><item"#), "\(text)")
        #expect(text.contains(#":decimal[1]"><name"#) || text.contains(#":decimal[1]"#), "\(text)")
        #expect(text.contains(#":int">1</id>"#), "\(text)")
    }
}
