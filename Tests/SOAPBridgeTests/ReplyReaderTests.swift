import BridgeKit
import RecordBatch
import Testing
import TestSupport

@testable import SOAPBridge

@Suite struct ReplyReaderTests {
    private let reply = Samples.list(
        """

          <n:item kind="&lt;b&gt; &amp;#38; &amp;"><n:id>+7</n:id><n:name>R&amp;D <![CDATA[<x> & y]]> \u{1F600}é&#x20AC;</n:name>
            <n:price currency="EUR">12.50</n:price><n:share> .5 </n:share><n:active>1</n:active><n:weight>INF</n:weight>
            <n:image>aGVs
              bG8=</n:image><n:when>2017-08-01T24:00:00</n:when><n:big>18446744073709551615</n:big>
            <n:tag>one</n:tag><n:child><n:id>1</n:id><n:name/></n:child><n:tag>two</n:tag>
            <n:child><n:id>2</n:id><n:name xsi:nil="true"/></n:child></n:item>
          <n:item><n:id>x</n:id><n:name xsi:nil="1"/><n:price>1</n:price><n:tag/><o:extra xmlns:o="urn:o">a<b/>c</o:extra>
            <n:loose>1</n:loose><n:loose>2</n:loose></n:item>
          <n:item xsi:nil="true"/>

        """)
    private let expected = [
        ##"{"@kind":"<b> &#38; &","id":7,"name":"R&D <x> & y \##u{1F600}é€","price":{"@currency":"EUR","#text":12.50},"##
            + ##""share":0.5,"active":true,"weight":"INF","image":"aGVsbG8=","when":"2017-08-01T24:00:00","##
            + ##""big":18446744073709551615,"tag":["one","two"],"##
            + ##""child":[{"id":1,"name":""},{"id":2,"name":null}]}"##,
        ##"{"id":"x","name":null,"price":{"#text":1},"tag":[""],"extra":{"b":"","#text":"a c"},"loose":["1","2"]}"##,
    ]

    @Test func `elements become typed members, wherever the bytes are cut`() throws {
        let plan = try Samples.plan(Samples.load())
        let whole = try Samples.read(reply, plan)
        #expect(whole.error == nil)
        #expect(whole.records == expected)
        #expect(whole.reader.total == 7)
        #expect(whole.reader.recordCount == 3)
        #expect(whole.reader.takeRejected().map(\.index) == [2])
        for size in 1...64 {
            let cut = try Samples.read(reply, plan, piece: size)
            #expect(cut.records == expected, "pieces of \(size)")
            #expect(cut.reader.fingerprint == whole.reader.fingerprint)
            #expect(cut.error == nil)
        }
    }

    @Test func `the limit of a record is not that of all records that arrive together`() throws {
        let items = (1...3000).map { "<n:item><n:id>\($0)</n:id><n:name>name</n:name></n:item>" }.joined()
        let reader = try ReplyReader(plan: Samples.plan(Samples.load()), recordBytes: 65_536)
        let writer = RecordBatchWriter()
        try reader.feed(Array(Samples.list(items).utf8)[...], into: writer)
        try reader.finish()
        #expect(writer.excess == nil)
        #expect(try writer.finish().count == 3000)
    }

    @Test func `every boundary of two pieces gives the same records`() throws {
        let plan = try Samples.plan(Samples.load())
        let bytes = Array(reply.utf8)
        for boundary in 1..<bytes.count {
            let reader = try ReplyReader(plan: plan)
            let writer = RecordBatchWriter()
            try reader.feed(bytes[..<boundary], into: writer)
            try reader.feed(bytes[boundary...], into: writer)
            try reader.finish()
            let batch = try writer.finish()
            #expect((0..<batch.count).map { batch[$0].json } == expected, "cut at \(boundary)")
        }
    }

    @Test func `a total may be an attribute`() throws {
        let plan = try Samples.plan(Samples.load(), total: "ListResponse/items/@count")
        #expect(try Samples.read(reply, plan).reader.total == 9)
        for count in [#"count="9" x:count="8""#, #"x:count="8" count="9""#] {
            let other = reply.replacing(#"count="9""#, with: #"xmlns:x="urn:x" \#(count)"#)
            #expect(try Samples.read(other, plan).reader.total == 9)
        }
    }

    @Test(arguments: [
        (#"id="1" t:id="2""#, #"{"@id":"1","@t:id":"2"}"#), (#"t:id="2" id="1""#, #"{"@t:id":"2","@id":"1"}"#),
        (#"u:id="3" t:id="2""#, #"{"@u:id":"3","@t:id":"2"}"#), (#"t:id="2""#, #"{"@id":"2"}"#),
        (#"t:id="2" xsi:id="x" e:id="y""#, #"{"@id":"2"}"#),
    ])
    func `attributes with one local name stay apart, in any order`(attributes: String, record: String) throws {
        let reply = Samples.list(#"<n:item xmlns:t="urn:t" xmlns:u="urn:u" \#(attributes)/>"#)
        let plan = try Samples.plan(Samples.load())
        #expect(try Samples.read(reply, plan).records == [record])
        // What is sent back has the namespaces.
        let reader = try ReplyReader(plan: plan, isExact: true)
        let writer = RecordBatchWriter()
        try reader.feed(Array(reply.utf8)[...], into: writer)
        try reader.finish()
        let exact = record.replacing("@t:", with: "@{urn:t}").replacing("@u:", with: "@{urn:u}")
        let only = record == #"{"@id":"2"}"# ? #"{"@{urn:t}id":"2"}"# : exact
        let batch = try writer.finish()
        #expect(withExtendedLifetime(batch) { batch[0].json } == only)
    }

    @Test func `xsi type chooses a type, and is kept where the element is an object`() throws {
        let plan = try Samples.plan(Samples.load())
        let items =
            #"<n:item><n:id>1</n:id><n:any xsi:type="xs:int">5</n:any><n:obj xsi:type="n:Thing"><n:id>3</n:id></n:obj></n:item>"#
        #expect(
            try Samples.read(Samples.list(items), plan).records == [
                #"{"id":1,"any":5,"obj":{"@xsi:type":"{urn:s}Thing","id":3}}"#
            ])
    }

    @Test func `a global element in place of xs any is typed`() throws {
        let definition = try Samples.load(
            schemas: #"<xs:schema targetNamespace="urn:x"><xs:element name="cost" type="xs:decimal"/></xs:schema>"#)
        let item =
            #"<n:item><n:id>1</n:id><x:cost xmlns:x="urn:x">1.50</x:cost><x:other xmlns:x="urn:x">2</x:other></n:item>"#
        #expect(
            try Samples.read(Samples.list(item), Samples.plan(definition)).records
                == [#"{"id":1,"cost":1.50,"other":"2"}"#])
    }

    @Test func `the reply of rpc is read by its wrapper's local name`() throws {
        let plan = try Samples.plan(Samples.load(), operation: "Echo", records: "EchoResponse/result", total: "")
        let outcome = try Samples.read(
            Samples.envelope("<EchoResponse><result><id>3</id></result></EchoResponse>"), plan)
        #expect(outcome.records == [#"{"id":3}"#])
    }

    @Test func `a path that the schema contradicts is a fault of the config`() throws {
        let definition = try Samples.load()
        let error = try bridgeError { _ = try Samples.plan(definition, records: "ListResponse/item/item") }
        #expect(error.code == .configuration)
        #expect(error.remedy == #"its elements: "items", "total""#)
        #expect(throws: BridgeError.self) { try Samples.plan(definition, total: "ListResponse/totals") }
    }

    @Test(arguments: [
        (Samples.list("") + "<more/>", "not well-formed"),
        (Samples.list("") + "junk", "not well-formed"),
        (String(Samples.list("<n:item><n:id>1</n:id></n:item>").dropLast(30)), "not well-formed"),
        (Samples.list("<n:item><n:id>1</n:name></n:item>"), "at line 2"),
        (Samples.list("<n:item>&undeclared;</n:item>"), "not well-formed"),
        ("", "the reply is empty"),
        ("<html><body/></html>", "root element is <html>"),
        (Samples.envelope("<n:Other xmlns:n=\"urn:s\"/>"), "holds <Other>, not <ListResponse>"),
        (Samples.envelope(""), "is empty, not <ListResponse>"),
        ("<e:Envelope xmlns:e=\"http://schemas.xmlsoap.org/soap/envelope/\"/>", "no soap:Body"),
        ("<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY a \"aaaa\">]><x>&a;</x>", "DOCTYPE"),
        ("<!DOCTYPE x SYSTEM \"http://127.0.0.1:1/x.dtd\"><x/>", "DOCTYPE"),
        (Samples.list("<n:item><n:id>\u{0}</n:id></n:item>"), "not well-formed"),
        (Samples.list("").replacing("</e:Body>", with: "</e:Body><e:Body/>"), "has two soap:Body elements"),
    ])
    func `a reply that is not one is malformed`(reply: String, words: String) throws {
        let plan = try Samples.plan(Samples.load())
        for size in [1, 7, Int.max] {
            let error = try #require(try Samples.read(reply, plan, piece: size).error)
            #expect(error.code == .malformed)
            #expect(error.message.contains(words), "\(error)")
        }
    }

    @Test func `white space around a time means nothing, and in a text it is kept`() throws {
        let definition = try Samples.load()
        let item = "<n:item><n:name> a </n:name><n:when>\n 2017-08-01T10:00:00Z\t</n:when></n:item>"
        let record = #"{"name":" a ","when":"2017-08-01T10:00:00Z"}"#
        #expect(
            try Samples.read(Samples.list(item + item), Samples.plan(definition)).records == [record, record])
        let typed =
            #"<n:item><n:any xsi:type="xs:date"> 2017-08-01 </n:any><n:url xsi:type="xs:anyURI"> http://a </n:url></n:item>"#
        #expect(
            try Samples.read(Samples.list(typed), Samples.plan(definition)).records == [
                #"{"any":"2017-08-01","url":"http://a"}"#
            ])
    }

    @Test(
        arguments: [
            ("string", "a  b ", " a  b "), ("string", "\n  a b\r\n ", "a b"), ("string", "a\t\n", "a"),
            ("string", " ", nil), ("int", "7 ", "7"), ("dateTime", "2017-08-01T10:00:00Z ", "2017-08-01T10:00:00Z"),
        ] as [(String, String, String?)])
    func `white space around a token is kept unless its type or a line break says that it means nothing`(
        type: String, text: String, token: String?
    ) throws {
        let total = "<xs:element name=\"total\" type=\"xs:"
        let wsdl = Samples.wsdl(schemas: "").replacing(total + "int", with: total + type)
        let definition = try Samples.load(["http://a.example/s.wsdl": wsdl])
        let port = try definition.port(service: nil, port: nil, version: nil).1
        let plan = try ReplyPlan(
            operation: try port.operation("List"), schemas: definition.schemas,
            records: ["ListResponse", "items", "item"], token: ["ListResponse", "total"])
        #expect(try Samples.read(Samples.list("", total: text), plan).reader.captured(.token) == token)
    }

    @Test func `an empty list is not an error`() throws {
        let outcome = try Samples.read(" \r\n" + Samples.list(""), Samples.plan(Samples.load()))
        #expect(outcome.error == nil)
        #expect(outcome.records.isEmpty)
    }

    @Test func `depth, attributes and levels of a record have limits`() throws {
        let plan = try Samples.plan(Samples.load())
        let deep = Samples.list("<n:item>" + String(repeating: "<d>", count: 3_000) + "</n:item>")
        let attributes = (0...256).map { " a\($0)=''" }.joined()
        let wide = Samples.list("<n:item\(attributes)/>")
        let nested = Samples.list(
            String(repeating: "<n:item><n:child>", count: 1) + String(repeating: "<n:child>", count: 80)
                + String(repeating: "</n:child>", count: 81) + "</n:item>")
        for (reply, words) in [(deep, "deeper than 100"), (wide, "257 attributes"), (nested, "levels of objects")] {
            let error = try #require(try Samples.read(reply, plan).error)
            #expect(error.code == .limit)
            #expect(error.message.contains(words), "\(error)")
        }
    }

    @Test func `a text that is too long is a limit`() throws {
        let reader = try ReplyReader(plan: try Samples.plan(Samples.load()))
        let writer = RecordBatchWriter()
        let start = Samples.list("<n:item><n:name>").replacing(
            "</n:items></n:ListResponse></e:Body></e:Envelope>", with: "")
        try reader.feed(Array(start.utf8)[...], into: writer)
        let mebibyte = [UInt8](repeating: 0x61, count: 1 << 20)
        for _ in 0..<63 { try reader.feed(mebibyte[...], into: writer) }
        let error = try bridgeError { for _ in 0..<2 { try reader.feed(mebibyte[...], into: writer) } }
        #expect(error.code == .limit)
        #expect(error.message.contains("64 MiB"))
    }

    @Test func `a character set is the declaration's, else the Content-Type's`() throws {
        let plan = try Samples.plan(Samples.load())
        func read(_ text: String, type: String?) throws -> [String] {
            let reader = try ReplyReader(plan: plan, contentType: type)
            let writer = RecordBatchWriter()
            // Each scalar below U+0100 as one byte: Latin-1.
            let bytes = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
            for byte in bytes { try reader.feed([byte], into: writer) }
            try reader.finish()
            let batch = try writer.finish()
            return (0..<batch.count).map { batch[$0].json }
        }
        let bare = Samples.list("<n:item><n:name>Zo\u{EB}</n:name></n:item>").replacing(
            "<?xml version=\"1.0\"?>\n", with: "")
        let declared = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>" + bare
        #expect(try read(bare, type: "text/xml; charset=ISO-8859-1") == [#"{"name":"Zoë"}"#])
        #expect(try read(declared, type: "text/xml; charset=utf-8") == [#"{"name":"Zoë"}"#])
        #expect(try read(declared, type: nil) == [#"{"name":"Zoë"}"#])
        #expect(try bridgeError { _ = try read(bare, type: nil) }.code == .malformed)
    }

    @Test func `faults of both versions are read`() throws {
        let plan = try Samples.plan(Samples.load())
        let old = Samples.envelope(
            "<e:Fault><faultcode>e:Server.Db</faultcode><faultstring xml:lang='en'> no &lt;table&gt; </faultstring>"
                + "<detail><t:Problem xmlns:t='urn:t'><t:table>users</t:table><t:code>7</t:code></t:Problem></detail></e:Fault>"
        )
        let fault = try #require(try Samples.read(old, plan).reader.fault)
        #expect(fault.codes == ["Server", "Db"])
        #expect(fault.words == "Server.Db: no <table>; detail: table: users; code: 7")
        #expect(fault.error(status: 503, operation: "List", location: "").isRetryable)
        #expect(!fault.error(status: 500, operation: "List", location: "").isRetryable)
        let new = Samples.envelope(
            "<e:Fault><e:Code><e:Value>e:Sender</e:Value><e:Subcode><e:Value xmlns:m='urn:m'>m:BadLimit</e:Value></e:Subcode></e:Code>"
                + "<e:Reason><e:Text xml:lang='de'>zu viel</e:Text><e:Text xml:lang='en'>too much</e:Text></e:Reason>"
                + "<e:Detail>max 10</e:Detail></e:Fault>", namespace: "http://www.w3.org/2003/05/soap-envelope")
        let fault12 = try #require(try Samples.read(new, plan).reader.fault)
        #expect(fault12.words == "Sender.BadLimit: too much; detail: max 10")
        #expect(!fault12.error(status: 503, operation: "List", location: "").isRetryable)
    }
}
