import BridgeKit
import RecordBatch
import Testing
import TestSupport

@testable import SOAPBridge

/// Elements without attributes take a shorter way through the reply machine than elements with a namespace declaration.
///
/// The declaration means nothing to a record, so both ways must make the same of it.
@Suite struct UsualElementTests {
    private static let usual = "<n:item><n:id>1</n:id><n:name>a</n:name><n:active>true</n:active></n:item>"

    @Test(arguments: [
        usual,
        "<n:item/>",
        "<n:item><n:name>a</n:name></n:item>",
        // A name that comes twice, and members in another order than the schema's.
        "<n:item><n:id>1</n:id><n:name>a</n:name><n:name>b</n:name></n:item>",
        "<n:item><n:name>a</n:name><n:id>1</n:id></n:item>",
        "<n:item><n:name>a</n:name><n:id>1</n:id><n:name>b</n:name></n:item>",
        "<n:item><n:id>1</n:id><n:tag>a</n:tag></n:item>",
        "<n:item><n:id>1</n:id><n:tag>a</n:tag><n:tag/><n:name>x</n:name><n:tag>c</n:tag></n:item>",
        // Elements and texts where the schema has none.
        "<n:item><n:id>1</n:id><n:name>a<n:inner>b</n:inner>c</n:name><n:active>1</n:active></n:item>",
        "<n:item><n:id><n:id>1</n:id></n:id><n:name>a</n:name></n:item>",
        "<n:item><n:id>1</n:id><n:other>2</n:other><n:name>a</n:name></n:item>",
        "<n:item><n:id>1</n:id> loose <n:name>a</n:name> text </n:item>",
        "<n:item>\n  <n:id> 1 </n:id>\n  <n:name> a </n:name>\n</n:item>",
        "<n:item><n:item><n:id>1</n:id></n:item></n:item>",
        // Empty values, values in several pieces, and values of another type.
        "<n:item><n:id/><n:name></n:name><n:active/><n:when/><n:image/></n:item>",
        "<n:item><n:id>1</n:id><n:name>a<!-- b -->c<![CDATA[<d>]]>&amp;e</n:name></n:item>",
        "<n:item><n:id>one</n:id><n:active>maybe</n:active><n:weight>heavy</n:weight><n:image>?</n:image></n:item>",
        "<n:item><n:id>99999999999999999999</n:id><n:share>.5</n:share><n:weight>1e3</n:weight><n:big>7</n:big></n:item>",
        "<n:item><n:id>1</n:id><n:price>2.5</n:price><n:name>a</n:name></n:item>",
        "<n:item><n:id>1</n:id><n:child><n:id>2</n:id><n:name>b</n:name></n:child><n:name>a</n:name></n:item>",
    ])
    func `an element with a namespace declaration and one without give the same record`(item: String) throws {
        let plan = try Samples.plan(Samples.load())
        // The first record of a list always takes the longer way.
        let items = Self.usual + item + Self.usual + item
        let longer = items.replacing(try Regex("<n:[a-z]+")) { "\(items[$0.range]) xmlns:z='urn:z'" }
        for size in [1, 7, Int.max] {
            let short = try Samples.read(Samples.list(items), plan, piece: size)
            let long = try Samples.read(Samples.list(longer), plan, piece: size)
            #expect(short.error == nil && long.error == nil)
            #expect(short.records.count == 4)
            #expect(short.records == long.records)
            #expect(short.reader.fingerprint == long.reader.fingerprint)
            #expect(short.reader.deviations.sentence == long.reader.deviations.sentence)
        }
    }

    @Test func `of two elements of one name, the one in another namespace than the others has it in its name`() throws {
        let active = "<xs:element name=\"active\" type=\"xs:boolean\" minOccurs=\"0\"/>"
        let other = "<xs:schema targetNamespace=\"urn:o\"><xs:element name=\"id\" type=\"xs:int\"/></xs:schema>"
        let text = Samples.wsdl(schemas: other).replacing(
            active, with: active + "<xs:element ref=\"o:id\" xmlns:o=\"urn:o\" minOccurs=\"0\"/>")
        let plan = try Samples.plan(Samples.load(["http://a.example/s.wsdl": text]))
        let both = "<n:item><n:id>1</n:id><n:name>x</n:name><o:id>2</o:id></n:item>"
        let items = both + both + "<n:item><o:id>2</o:id></n:item><n:item><n:id>1</n:id></n:item>"
        let reply = Samples.envelope(
            "<n:ListResponse xmlns:n='urn:s' xmlns:o='urn:o'><n:items>\(items)</n:items></n:ListResponse>")
        let outcome = try Samples.read(reply, plan)
        #expect(outcome.error == nil)
        let record = #"{"id":1,"name":"x","{urn:o}id":2}"#
        #expect(outcome.records == [record, record, #"{"{urn:o}id":2}"#, #"{"id":1}"#])
    }

    @Test func `of elements of one name in other namespaces than the first, the first has the plain name`() throws {
        var type = ComplexType()
        type.children = [("urn:a", "id"), ("urn:b", "name"), ("urn:c", "name"), ("urn:c", "id")].map {
            SchemaElement(name: QName($0.0, $0.1), type: SchemaSet().anyType)
        }
        #expect(type.memberNames == ["id", "name", "{urn:c}name", "{urn:c}id"])
        #expect(type.child(named: "name")?.name == QName("urn:b", "name"))
        #expect(type.child(named: "{urn:c}name")?.name == QName("urn:c", "name"))
        type.children = [("urn:a", "id"), ("urn:b", "name"), ("urn:a", "name")].map {
            SchemaElement(name: QName($0.0, $0.1), type: SchemaSet().anyType)
        }
        #expect(type.memberNames == ["id", "{urn:b}name", "name"])
        #expect(type.child(named: "name")?.name == QName("urn:a", "name"))
    }

    @Test(arguments: [1, 64, Int.max])
    func `a tag with too many attributes is found behind many short ones`(piece: Int) throws {
        let few = String(repeating: Self.usual, count: 500)
        let many = (0..<2_001).map { " a\($0)=''" }.joined()
        let plan = try Samples.plan(Samples.load())
        for items in [few + "<n:item\(many)/>" + few, few + "<n:item\(many)/>"] {
            let outcome = try Samples.read(Samples.list(items), plan, piece: piece)
            #expect(outcome.error?.message.contains("more than 2000 attributes") == true)
        }
    }

    @Test func `an element of a record's name that is not in the list is not a record`() throws {
        let plan = try Samples.plan(Samples.load())
        let item = Self.usual
        // The second list stands beside the first, and the last item beside both.
        let reply = Samples.envelope(
            "<n:ListResponse xmlns:n='urn:s'><n:items>\(item)\(item)</n:items><n:more>\(item)</n:more>"
                + "<n:items>\(item)</n:items>\(item)</n:ListResponse>")
        let outcome = try Samples.read(reply, plan)
        #expect(outcome.error == nil)
        #expect(outcome.records.count == 3)
        #expect(outcome.reader.recordCount == 3)
    }

    @Test func `a record that grows over its limit fails in an open value too`() throws {
        let reader = try ReplyReader(plan: try Samples.plan(Samples.load()), recordBytes: 4_096)
        let long = String(repeating: "x", count: 5_000)
        let reply = Samples.list(Self.usual + "<n:item><n:id>1</n:id><n:name>\(long)</n:name></n:item>")
        let error = try bridgeError { try reader.feed(Array(reply.utf8)[...], into: RecordBatchWriter()) }
        #expect(error.code == .limit)
        #expect(error.message.contains("4096 bytes"))
    }
}
