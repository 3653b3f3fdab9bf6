import BridgeKit
import RecordBatch
import TestSupport
import Testing

@testable import SOAPBridge

/// `z:Id` and `z:Ref`: WCF writes an object of a contract with `IsReference` once, and refers to it afterwards.
@Suite struct SharedObjectTests {
    private static let serialization = "http://schemas.microsoft.com/2003/10/Serialization/"
    private static let schema = """
        <xs:schema targetNamespace="urn:x" xmlns:t="urn:s" xmlns:x="urn:x" xmlns:z="\(serialization)"
            elementFormDefault="qualified">
          <xs:import namespace="\(serialization)"/>
          <xs:complexType name="Order"><xs:complexContent><xs:extension base="t:Item"><xs:sequence>
            <xs:element name="customer" type="x:Customer" minOccurs="0" nillable="true"/></xs:sequence></xs:extension>
          </xs:complexContent></xs:complexType>
          <xs:complexType name="Customer"><xs:sequence><xs:element name="name" type="xs:string" minOccurs="0"/>
            <xs:element name="size" type="xs:int" minOccurs="0"/>
            <xs:element name="orders" minOccurs="0"><xs:complexType><xs:sequence>
              <xs:element name="Order" type="x:Order" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType>
            </xs:element></xs:sequence><xs:attribute ref="z:Id"/><xs:attribute ref="z:Ref"/></xs:complexType>
        </xs:schema>
        """

    private func plan() throws -> ReplyPlan { try Samples.plan(try Samples.load(schemas: Self.schema)) }

    private func reply(_ items: String) -> String {
        Samples.list(items).replacing("<n:items", with: #"<n:items xmlns:x="urn:x" xmlns:z="\#(Self.serialization)""#)
    }

    private func read(_ items: String, piece: Int = .max) throws -> Samples.Outcome {
        let outcome = try Samples.read(reply(items), plan(), piece: piece)
        if let error = outcome.error { throw error }
        return outcome
    }

    /// An order, whose content begins with its id.
    private func order(_ id: Int, _ content: String = "", number: String = "") -> String {
        #"<n:item xsi:type="x:Order" \#(number)><n:id>\#(id)</n:id>\#(content)</n:item>"#
    }

    private func json(_ id: Int, _ rest: String = "") -> String { #"{"@xsi:type":"{urn:x}Order","id":\#(id)\#(rest)}"# }

    @Test(arguments: [1, 7, Int.max])
    func `an object is that of its number, wherever a record refers to it`(piece: Int) throws {
        let outcome = try read(
            order(1, #"<x:customer z:Id="i1"><x:name>Ann</x:name><x:size>7</x:size></x:customer>"#)
                + order(2, #"<x:customer z:Ref="i1"/>"#) + order(3, #"<x:customer z:Ref="i1" xsi:nil="true"/>"#)
                + order(4, #"<x:customer xsi:nil="true"/>"#), piece: piece)
        let customer = #","customer":{"name":"Ann","size":7}"#
        #expect(
            outcome.records.sorted() == [
                json(1, customer), json(2, customer), json(3, customer), json(4, #","customer":null"#),
            ])
        #expect(outcome.reader.takeRejected().isEmpty && outcome.reader.deviations.sentence == nil)
    }

    @Test func `a record may itself refer to an object inside another`() throws {
        let outcome = try read(
            order(1, #"<n:child z:Id="i3"><n:id>5</n:id></n:child>"#, number: #"z:Id="i2""#) + #"<n:item z:Ref="i3"/>"#)
        #expect(outcome.records == [json(1, #","child":[{"id":5}]"#), #"{"id":5}"#])
    }

    @Test func `objects that contain one another are left out where they come again`() throws {
        let customer = #"""
            <x:customer z:Id="i2"><x:name>Ann</x:name><x:orders><x:Order z:Ref="i1"/>
              <x:Order z:Id="i3"><n:id>3</n:id><x:customer z:Ref="i2"/></x:Order></x:orders></x:customer>
            """#
        let outcome = try read(order(1, customer, number: #"z:Id="i1""#) + #"<n:item z:Ref="i3"/>"#)
        #expect(
            outcome.records == [
                json(1, #","customer":{"name":"Ann","orders":{"Order":[{"id":3}]}}"#),
                #"{"id":3,"customer":{"name":"Ann","orders":{"Order":[\#(json(1))]}}}"#,
            ])
        let tolerated = try #require(outcome.reader.deviations.sentence)
        #expect(tolerated.contains("<customer> refers to something that contains it"), "\(tolerated)")
    }

    @Test func `a record may refer to an object of another list, and is without the object around it`() throws {
        let schema = """
            <xs:schema targetNamespace="urn:y" xmlns:y="urn:y" elementFormDefault="qualified">
              <xs:complexType name="Person"><xs:sequence><xs:element name="name" type="xs:string"/>
                <xs:element name="age" type="xs:int"/></xs:sequence></xs:complexType>
              <xs:complexType name="Task"><xs:sequence><xs:element name="id" type="xs:int"/>
                <xs:element name="owner" type="y:Person"/><xs:element name="plan" type="y:Plan"/></xs:sequence></xs:complexType>
              <xs:complexType name="Plan"><xs:sequence>
                <xs:element name="person" type="y:Person" maxOccurs="unbounded"/>
                <xs:element name="task" type="y:Task" maxOccurs="unbounded"/></xs:sequence></xs:complexType>
            </xs:schema>
            """
        let definition = try Samples.load(
            [
                "http://a.example/s.wsdl": Samples.wsdl(schemas: schema).replacing(
                    #"<part name="result" type="t:Item"/>"#,
                    with: #"<part name="result" xmlns:y="urn:y" type="y:Plan"/>"#)
            ])
        let body = #"""
            <r:EchoResponse xmlns:r="urn:rpc" xmlns:z="\#(Self.serialization)"><result z:Id="p">
              <person z:Id="a"><name>Ann</name><age>7</age></person>
              <task><id>1</id><owner z:Ref="a"/><plan z:Ref="p"/></task></result></r:EchoResponse>
            """#
        let outcome = try Samples.read(
            Samples.envelope(body),
            Samples.plan(
                definition, operation: "Echo", records: "EchoResponse/result/task", total: ""))
        #expect(outcome.records == [#"{"id":1,"owner":{"name":"Ann","age":7}}"#])
        #expect(outcome.error == nil && outcome.reader.takeRejected().isEmpty)
        #expect(
            outcome.reader.deviations.sentence
                == "tolerated deviations in the replies: <plan> refers to something that contains it: left out")
    }

    @Test func `a record that refers to an object that the reply lacks, or to two, goes to quarantine`() throws {
        let outcome = try read(
            order(1, #"<x:customer z:Ref="i9"/>"#) + order(2, #"<x:customer z:Id="i1"/>"#)
                + order(3, #"<x:customer z:Id="i1"/>"#) + order(4, #"<x:customer z:Ref="i1"/>"#)
                + #"<n:item z:Ref="i8"/>"#)
        #expect(outcome.records == [json(2, #","customer":{}"#), json(3, #","customer":{}"#)])
        let rejected = outcome.reader.takeRejected()
        #expect(
            rejected.map(\.reason) == [
                #"the record refers to the object "i9", which is not in the reply"#,
                #"the record refers to the object "i1", a number that several objects of the reply have"#,
                #"the record refers to "i8", which is not in the reply"#,
            ])
        #expect(rejected.first?.representation == json(1))
    }

    /// A reply with other content around the list, which the schema does not describe.
    private func around(_ items: String, before: String = "", after: String = "", piece: Int = .max) throws
        -> Samples.Outcome
    {
        let text = reply(items).replacing(
            "<n:ListResponse ", with: #"<n:ListResponse xmlns:z="\#(Self.serialization)" "#
        )
        .replacing("<n:total>", with: before + "<n:total>").replacing("</n:items>", with: "</n:items>" + after)
        let outcome = try Samples.read(text, plan(), piece: piece)
        if let error = outcome.error { throw error }
        return outcome
    }

    @Test(arguments: [1, 7, Int.max])
    func `a record may refer to an object anywhere in the reply`(piece: Int) throws {
        let outcome = try around(
            order(1, #"<x:customer z:Ref="i1"/>"#) + order(2, #"<x:customer z:Ref="i2"/>"#)
                + order(3, #"<x:customer z:Id="i3"><x:name>Own</x:name></x:customer>"#),
            before:
                #"<n:head><n:boss z:Id="i1"><n:name>Ann</n:name><n:deputy z:Id="i2"><n:name>Bob</n:name></n:deputy></n:boss></n:head>"#,
            piece: piece)
        #expect(outcome.reader.takeRejected().isEmpty)
        #expect(
            outcome.records.sorted() == [
                json(1, #","customer":{"name":"Ann","deputy":{"name":"Bob"}}"#),
                json(2, #","customer":{"name":"Bob"}"#),
                json(3, #","customer":{"name":"Own"}"#),
            ])
    }

    @Test(arguments: [true, false])
    func `parts of a message that number their own objects are kept apart`(isBefore: Bool) throws {
        let status = #"<n:status z:Id="i1"><n:code z:Id="i2">1</n:code></n:status>"#
        let outcome = try around(
            order(1, #"<x:customer z:Id="i1"><x:name>Ann</x:name></x:customer>"#)
                + order(2, #"<x:customer z:Ref="i1"/>"#)
                + order(3, #"<x:customer z:Ref="i2"/>"#),
            before: isBefore ? status : "", after: isBefore ? "" : status)
        let customer = #","customer":{"name":"Ann"}"#
        #expect(outcome.records.sorted() == [json(1, customer), json(2, customer)])
        #expect(
            outcome.reader.takeRejected().map(\.reason) == [
                #"the record refers to the object "i2", which is not in the part of the reply that has the records: "#
                    + "the other parts number their own objects"
            ])
    }

    @Test func `an object outside the list may say that the reply failed`() throws {
        let failed = try around(
            "",
            after:
                #"<n:status z:Id="i1"><n:result><n:responseCode>ErrorServerBusy</n:responseCode></n:result></n:status>"#
        )
        #expect(failed.records.isEmpty && failed.reader.notedFailure == "its responseCode is ErrorServerBusy")
        let more = try around(order(1), after: #"<n:page z:Id="i1"><n:hasMore>true</n:hasMore></n:page>"#)
        #expect(more.records.count == 1 && more.reader.promise?.words == "its hasMore is true")
    }

    @Test func `an object outside the list that is too large is a fault only of what refers to it`() throws {
        let text = String(repeating: "x", count: 5000)
        let large =
            #"<n:info z:Id="i1"><n:a>\#(text)</n:a><n:b>\#(text)</n:b><n:small z:Id="i2"><n:c>1</n:c></n:small><n:a>\#(text)</n:a></n:info>"#
        let reply = Samples.list(
            order(1, #"<x:customer z:Ref="i1"/>"#) + order(2, #"<x:customer z:Ref="i2"/>"#) + order(3)
        )
        .replacing("<n:ListResponse ", with: #"<n:ListResponse xmlns:x="urn:x" xmlns:z="\#(Self.serialization)" "#)
        .replacing("<n:total>", with: large + "<n:total>")
        let reader = try ReplyReader(plan: plan(), recordBytes: 9000)
        let writer = RecordBatchWriter()
        try reader.feed(Array(reply.utf8)[...], into: writer)
        try reader.finish()
        try reader.drain(into: writer, limit: 10, bytes: 1 << 20)
        let batch = try writer.finish()
        let records = (0..<batch.count).map { batch[$0].json }
        #expect(records == [json(3), json(2, #","customer":{"c":"1"}"#)])
        #expect(
            reader.takeRejected().map(\.reason) == [
                #"the record refers to the object "i1", which takes more bytes outside the list than max_record_bytes"#
            ])
    }

    @Test(arguments: [true, false])
    func `an object of another part does not stand in for one that was too large`(isOwn: Bool) throws {
        let text = String(repeating: "x", count: 5000)
        let large =
            #"<n:info z:Id="i1"><n:a>\#(text)</n:a><n:b>\#(text)</n:b><n:a>\#(text)</n:a></n:info>"#
        let small = #"<n:info z:Id="i1"><n:c>1</n:c></n:info>"#
        let record = order(1, #"<x:customer z:Ref="i1"/>"#).replacing("n:item", with: "n:child")
        let reply = Samples.list("<n:item>\(isOwn ? large : small)\(record)</n:item>")
            .replacing("<n:ListResponse ", with: #"<n:ListResponse xmlns:x="urn:x" xmlns:z="\#(Self.serialization)" "#)
            .replacing("<n:total>", with: (isOwn ? small : large) + "<n:total>")
        let plan = try Samples.plan(
            try Samples.load(schemas: Self.schema), records: "ListResponse/items/item/child")
        let reader = try ReplyReader(plan: plan, recordBytes: 9000)
        let writer = RecordBatchWriter()
        try reader.feed(Array(reply.utf8)[...], into: writer)
        try reader.finish()
        try reader.drain(into: writer, limit: 10, bytes: 1 << 20)
        let batch = try writer.finish()
        #expect((0..<batch.count).map { batch[$0].json } == (isOwn ? [] : [json(1, #","customer":{"c":"1"}"#)]))
        let reason =
            #"the record refers to the object "i1", which takes more bytes outside the list than max_record_bytes"#
        #expect(reader.takeRejected().map(\.reason) == (isOwn ? [reason] : []))
    }

    @Test func `a list of all objects in an object that each refers to is left out`() throws {
        let count = 3000
        let orders = (1...count).map {
            #"<x:Order z:Id="o\#($0)"><n:id>\#($0)</n:id><x:customer z:Ref="c"/></x:Order>"#
        }
        let customer =
            #"<x:customer z:Id="c"><x:name>Ann</x:name><x:orders>\#(orders.joined())</x:orders></x:customer>"#
        let outcome = try read(order(0, customer) + (1...3).map { #"<n:item z:Ref="o\#($0)"/>"# }.joined())
        #expect(outcome.records.count == 4)
        #expect(outcome.records.first?.hasSuffix(#"{"id":\#(count - 1)},{"id":\#(count)}]}}}"#) == true)
        #expect(outcome.records.last == #"{"id":3,"customer":{"name":"Ann","orders":{"Order":[]}}}"#)
        let tolerated = try #require(outcome.reader.deviations.sentence)
        #expect(tolerated.contains("<Order> is left out of lists in objects that records refer to"), "\(tolerated)")
    }

    @Test func `a record with few values keeps its lists after one that lost them`() throws {
        let orders = { (ids: [Int], customer: String) in
            ids.map { #"<x:Order z:Id="o\#($0)"><n:id>\#($0)</n:id><x:customer z:Ref="\#(customer)"/></x:Order>"# }
                .joined()
        }
        let customer = { (ids: [Int], name: String) in
            #"<x:customer z:Id="\#(name)"><x:orders>\#(orders(ids, name))</x:orders></x:customer>"#
        }
        let outcome = try read(
            order(0, customer(Array(1...3000), "c")) + #"<n:item z:Ref="o1"/>"#
                + order(4000, customer([4001, 4002], "d")) + #"<n:item z:Ref="o4001"/>"#)
        #expect(outcome.records.count == 4)
        #expect(outcome.records.contains(#"{"id":1,"customer":{"orders":{"Order":[]}}}"#))
        #expect(outcome.records.last == #"{"id":4001,"customer":{"orders":{"Order":[{"id":4002}]}}}"#)
    }

    @Test func `objects beyond the maximum are a limit only for what refers to them`() throws {
        let values = DeferredValues(mostShared: 2)
        for name in ["i1", "i2", "i3"] {
            try values.share([], id: DeferredValues.hash(Array(name.utf8)))
        }
        #expect(values.isFull)
        let emitter = RecordEmitter(deferred: values)
        #expect(try emitter.sharedFault(Array("i2".utf8)) == nil)
        let error = try bridgeError { _ = try emitter.sharedFault(Array("i3".utf8)) }
        #expect(error.code == .limit && error.remedy == "request smaller pages")
    }

    @Test func `a list that is a reference is an error, not an empty listing`() throws {
        let outcome = try Samples.read(reply("").replacing("<n:items", with: #"<n:items z:Ref="i1""#), plan())
        #expect(outcome.error?.code == .unsupported)
    }

    @Test func `numbers are not fields, and a record that is sent back keeps them`() throws {
        let definition = try Samples.load(schemas: Self.schema)
        let port = try definition.port(service: nil, port: nil, version: nil).1
        let fields = ReplyPaths(try port.operation("List"), definition.schemas).fields([
            "ListResponse", "items", "item",
        ])
        #expect(fields.contains("customer/name") && !fields.contains("customer/@Id"))
        let reader = try ReplyReader(plan: plan(), isExact: true)
        let writer = RecordBatchWriter()
        try reader.feed(Array(reply(order(1, #"<x:customer z:Ref="i1"/>"#)).utf8)[...], into: writer)
        try reader.finish()
        let batch = try writer.finish()
        #expect(batch.count == 1 && batch[0].json.contains(#""customer":{"@Ref":"i1"}"#))
    }
}
