import BridgeKit
import Foundation
import RecordBatch
import TestSupport
import Testing

@testable import SOAPBridge

/// What `discover` guesses of services whose operations and types are named in the ways that are common.
@Suite struct ServiceReaderTests {
    /// An operation of a document/literal service, and its request's and reply's elements.
    private struct Operation {
        let name: String
        var takes = ""
        var gives = ""
    }

    private func offers(_ operations: [Operation], types: String = "") throws -> [String: Offered] {
        let folder = try TemporaryFolder()
        let path = try folder.write(wsdl(operations, types), to: "service.wsdl")
        let bridge = try SOAPBridge(
            options: (["wsdl": .text(path)] as Literal).options, context: BridgeContext())
        let writer = RecordBatchWriter()
        try bridge.discover(into: writer)
        let batch = try writer.finish()
        var found: [String: Offered] = [:]
        for index in 0..<batch.count {
            let offer = try JSONDecoder().decode(Offered.self, from: Data(batch[index].json.utf8))
            found[offer["name"]?.text ?? ""] = offer
        }
        return found
    }

    private func wsdl(_ operations: [Operation], _ types: String) -> String {
        func each(_ body: (Operation) -> String) -> String { operations.map(body).joined(separator: "\n") }
        return #"""
            <definitions targetNamespace="urn:s" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:s"
                xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
              <types><xs:schema targetNamespace="urn:s" elementFormDefault="qualified">\#(types)
                \#(each { """
                    <xs:element name="\($0.name)"><xs:complexType><xs:sequence>\($0.takes)</xs:sequence></xs:complexType></xs:element>
                    <xs:element name="\($0.name)Response"><xs:complexType><xs:sequence>\($0.gives)</xs:sequence></xs:complexType></xs:element>
                    """ })
              </xs:schema></types>
              \#(each { """
                  <message name="\($0.name)In"><part name="p" element="t:\($0.name)"/></message>
                  <message name="\($0.name)Out"><part name="p" element="t:\($0.name)Response"/></message>
                  """ })
              <portType name="P">\#(each {
                """
                <operation name="\($0.name)"><input message="t:\($0.name)In"/><output message="t:\($0.name)Out"/></operation>
                """ })</portType>
              <binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>\#(each {
                """
                <operation name="\($0.name)"><soap:operation soapAction=""/><input><soap:body use="literal"/></input>
                <output><soap:body use="literal"/></output></operation>
                """ })</binding>
              <service name="S"><port name="A" binding="t:B"><soap:address location="http://127.0.0.1:1/"/></port></service>
            </definitions>
            """#
    }

    private static let one = #"<xs:element name="item" type="t:Item"/>"#
    private static let many = #"<xs:element name="item" type="t:Item" minOccurs="0" maxOccurs="unbounded"/>"#
    private static func text(_ name: String, _ more: String = "") -> String {
        #"<xs:element name="\#(name)" type="xs:string" \#(more)/>"#
    }
    private static func type(_ name: String, _ members: String, attributes: String = "") -> String {
        #"<xs:complexType name="\#(name)"><xs:sequence>\#(members)</xs:sequence>\#(attributes)</xs:complexType>"#
    }

    private func fields(_ offer: Offered?) -> [String] {
        (offer?["fields"]?.elements ?? []).compactMap { $0["name"]?.text }
    }

    private func key(_ offer: Offered?) -> String? {
        offer?["fields"]?.elements.first { $0["key"]?.boolean == true }?["name"]?.text
    }

    private func proposal(_ name: String, _ offer: Offered?) -> Offered? {
        offer?["proposals"]?.elements.first { $0["name"]?.text == name }?["value"]
    }

    @Test func `what derived types have besides is offered, and the type`() throws {
        let types =
            Self.type("Item", Self.text("id"))
            + #"<xs:complexType name="Book"><xs:complexContent><xs:extension base="t:Item">"#
            + #"<xs:sequence><xs:element name="pages" type="xs:int"/></xs:sequence><xs:attribute name="isbn" type="xs:string"/>"#
            + "</xs:extension></xs:complexContent></xs:complexType>"
        let offer = try offers([Operation(name: "ListItems", gives: Self.many)], types: types)["Item"]
        #expect(fields(offer) == ["id", "@xsi:type", "@isbn", "pages"])
        #expect(key(offer) == "id")
    }

    @Test func `an integer that may be beyond 64 bits is a decimal, and comes with every digit`() throws {
        let types = Self.type(
            "Item",
            ["unsignedLong", "unsignedInt", "long"].map { #"<xs:element name="\#($0)" type="xs:\#($0)"/>"# }.joined())
        let offer = try offers([Operation(name: "ListItems", gives: Self.many)], types: types)["Item"]
        let kinds = (offer?["fields"]?.elements ?? []).map { "\($0["name"]?.text ?? "") \($0["type"]?.text ?? "")" }
        #expect(kinds == ["unsignedLong decimal", "unsignedInt integer", "long integer"])
    }

    @Test func `an attribute that the operations take is the key, and pages go on by reference`() throws {
        let types = Self.type("Item", Self.text("Name"), attributes: #"<xs:attribute name="token" type="xs:string"/>"#)
        let offer = try offers(
            [
                Operation(
                    name: "GetItemList",
                    takes: Self.text("Limit", #"minOccurs="0""#) + Self.text("StartReference", #"minOccurs="0""#),
                    gives: Self.text("NextStartReference", #"minOccurs="0""#) + Self.many),
                Operation(name: "DeleteItem", takes: Self.text("Token")),
            ], types: types)["Item"]
        #expect(key(offer) == "@token")
        #expect(offer?["section"]?["paging"]?["token_element"]?.text == "StartReference")
        #expect(offer?["section"]?["paging"]?["token"]?.text == "GetItemListResponse/NextStartReference")
        #expect(proposal("write", offer)?["delete"]?["key"]?.text == "Token")
    }

    @Test func `the verbs of operations give them their roles`() throws {
        let types = Self.type("Item", Self.text("id") + Self.text("name"))
        let offer = try offers(
            [
                Operation(name: "GetNewItems", gives: Self.many),
                Operation(name: "GetItem", takes: Self.text("itemId"), gives: Self.one),
                Operation(name: "SetItem", takes: Self.one + #"<xs:element name="force" type="xs:boolean"/>"#),
                Operation(name: "ModifyItem", takes: Self.text("itemId") + Self.one),
                Operation(name: "ItemAdd", takes: Self.one, gives: Self.text("newId")),
                Operation(name: "AddItemToList", takes: Self.text("listId") + Self.text("itemId")),
                Operation(name: "RemoveItemById", takes: Self.text("id")),
            ], types: types)["Item"]
        #expect(offer?["section"]?["operation"]?.text == "GetNewItems")
        #expect(offer?["obstacle"] == nil)
        let write = proposal("write", offer)
        #expect(write?["create"]?["operation"]?.text == "ItemAdd")
        #expect(write?["create"]?["reply_key"]?.text == "ItemAddResponse/newId")
        #expect(write?["update"]?["operation"]?.text == "ModifyItem")
        #expect(write?["update"]?["key"]?.text == "itemId")
        #expect(write?["delete"]?["operation"]?.text == "RemoveItemById")
        let one = proposal("read_one", offer)
        #expect(one?["operation"]?.text == "GetItem")
        #expect(one?["records"]?.text == "GetItemResponse/item")
        #expect(one?["input"]?["itemId"]?.text == "{parent.id}")
    }

    @Test func `a flag beside the object is not its key`() throws {
        let types = Self.type("Item", Self.text("id"))
        let write = proposal(
            "write",
            try offers(
                [
                    Operation(name: "ListItems", gives: Self.many),
                    Operation(name: "SetItem", takes: Self.one + #"<xs:element name="force" type="xs:boolean"/>"#),
                ], types: types)["Item"])
        #expect(write?["update"]?["values"]?.text == "item")
        #expect(write?["update"]?["key"] == nil)
    }

    @Test func `an operation that changes something is not called before a person has reviewed it`() throws {
        let types = Self.type("Item", Self.text("id"))
        let offer = try offers([Operation(name: "ProvisionItems", gives: Self.many)], types: types)["Item"]
        #expect(offer?["obstacle"]?.text?.contains("ProvisionItems changes something") == true)
        let unknown = try offers([Operation(name: "Items", gives: Self.many)], types: types)["Item"]
        #expect(unknown?["confidence"]?.text == "medium")
        #expect(unknown?["obstacle"] == nil)
    }

    @Test func `a name that reads and changes something acts, and nouns do not`() {
        let acting = [
            "GetAndDeleteMessages", "FetchAndRemoveParcels", "LoadAndClearErrors", "ExportAndPurgeLogs",
            "ReadAndLockJobs", "DequeueMessages", "PopEvents", "AcknowledgeAlerts", "GenerateInvoices",
            "TerminateSessions", "KillTasks", "FlushCaches", "ConsumeTokens", "ArchiveOrders", "CheckoutItems",
            "ReleaseHolds", "ExpireTickets", "ReceiveMail", "IssueCoupons", "AcceptQuotes", "TriggerAlarms",
            "ReplaceParts", "RecalculatePrices", "FindOrCreateUser", "MessagesReadAndLock", "QueuePurgeAll",
            "ListAndResetCounters", "GetAndReleaseMessages", "GetAndPostInvoices", "SearchAndBookFlights",
            "GetAndVoidInvoices", "FetchAndEmptyQueue", "ReleaseAndGetMessages", "NotesDeleteAndGet",
        ]
        #expect(acting.filter { OperationVerb.split($0).verb != .acts } == [])
        #expect(OperationVerb.split("CustomerDeleteAll").verb == .deletes)
        #expect(OperationVerb.split("AddOrUpdateItem").verb == .creates)
        let reading = [
            "GetReleases", "GetRelease", "ListUpdates", "GetIssues", "GetOrders", "ListOfContinentsByName",
            "FullCountryInfoAllCountries", "GetTermsAndConditions", "GetOldAndNewPrices", "ReleaseList", "GetArchive",
            "GetDateAndPlaceOfBirth", "Product_GetAll", "GetReceivedOrders",
        ]
        #expect(reading.filter { OperationVerb.split($0).verb != .reads } == [])
        for name in ["CountryInfo", "Items", "Updates", "OrderIssue", "CountryNameAndCode"] {
            #expect(OperationVerb.split(name).verb == nil, "\(name)")
        }
    }

    @Test func `an object whose history has objects of its own type is not a list of them`() throws {
        let types = Self.type(
            "Project",
            Self.text("name") + #"<xs:element name="past" type="t:Project" minOccurs="0" maxOccurs="unbounded"/>"#)
        let offer = try offers(
            [
                Operation(
                    name: "gem", takes: Self.text("name"), gives: #"<xs:element name="project" type="t:Project"/>"#)
            ],
            types: types)["Project"]
        #expect(offer?["section"]?["records"]?.text == "gemResponse/project")
        #expect(offer?["obstacle"]?.text == "the request needs gem/name: set them under input")
    }

    @Test func `the lines of an object with an id are its parts`() throws {
        let types =
            Self.type("Line", Self.text("text"))
            + Self.type(
                "Order", Self.text("orderId") + #"<xs:element name="line" type="t:Line" maxOccurs="unbounded"/>"#)
        let found = try offers(
            [
                Operation(
                    name: "GetOrder", takes: Self.text("orderId"), gives: #"<xs:element name="order" type="t:Order"/>"#)
            ], types: types)
        #expect(found["Line"] == nil)
        #expect(found["Order"]?["section"]?["records"]?.text == "GetOrderResponse/order")
    }

    @Test func `plain values are records whose key they are, and one value an object`() throws {
        let found = try offers([
            Operation(
                name: "ListCountries",
                gives: #"<xs:element name="name" type="xs:string" minOccurs="0" maxOccurs="unbounded"/>"#),
            Operation(name: "GetVersion", gives: Self.text("GetVersionResult")),
        ])
        #expect(key(found["Country"]) == "#text")
        #expect(found["Country"]?["section"]?["records"]?.text == "ListCountriesResponse/name")
        #expect(found["Country"]?["fields"]?.elements.first?["as"]?.text == "value")
        #expect(found["Version"]?["section"]?["records"]?.text == "GetVersionResponse")
        #expect(fields(found["Version"]) == ["GetVersionResult"])
    }

    @Test func `a list that needs the key of another entity is scanned for each of its objects`() throws {
        let types =
            Self.type("Profile", Self.text("name"), attributes: #"<xs:attribute name="token" type="xs:string"/>"#)
            + Self.type("Item", Self.text("id"))
        let found = try offers(
            [
                Operation(
                    name: "GetProfiles", gives: #"<xs:element name="profile" type="t:Profile" maxOccurs="unbounded"/>"#),
                Operation(name: "GetItems", takes: Self.text("ProfileToken"), gives: Self.many),
            ], types: types)
        #expect(found["Item"]?["parent"]?.text == "profile")
        #expect(found["Item"]?["section"]?["input"]?["ProfileToken"]?.text == "{parent.token}")
        #expect(found["Item"]?["relationships"]?.elements.first?["to"]?.text == "Profile")
        #expect(found["Item"]?["obstacle"] == nil)
    }

    @Test func `types that differ in their endings keep their names`() throws {
        let types = Self.type("Item", Self.text("id")) + Self.type("ItemInfo", Self.text("id"))
        let found = try offers(
            [
                Operation(name: "ListItems", gives: Self.many),
                Operation(
                    name: "ListItemInfo", gives: #"<xs:element name="info" type="t:ItemInfo" maxOccurs="unbounded"/>"#),
            ], types: types)
        #expect(Set(found.keys) == ["", "Item", "ItemInfo"])
    }

    @Test func `a service without anything to read is described, not refused`() throws {
        let found = try offers([Operation(name: "Reset")])
        #expect(found.count == 1)
        #expect(found[""]?["is_empty"]?.boolean == true)
        #expect(found[""]?["notes"]?.elements.first?.text?.contains("Reset") == true)
    }

    @Test func `of a getter whose key is optional and one that gets all, the latter lists`() throws {
        let types = Self.type("Item", Self.text("id"))
        let found = try offers(
            [
                Operation(name: "Product_Get", takes: Self.text("id", #"minOccurs="0""#), gives: Self.many),
                Operation(name: "Product_GetAll", gives: Self.many),
            ], types: types)
        #expect(found["Item"]?["section"]?["operation"]?.text == "Product_GetAll")
    }

    @Test func `what a create requires and no attribute gives is reported`() throws {
        let types = Self.type("Item", Self.text("id") + Self.text("name"))
        let found = try offers(
            [
                Operation(name: "ListItems", gives: Self.many),
                Operation(name: "AddItem", takes: Self.one + Self.text("reason"), gives: Self.one),
            ], types: types)
        let notes = (found["Item"]?["notes"]?.elements ?? []).compactMap(\.text)
        #expect(
            notes.contains {
                $0.contains("AddItem requires AddItem/item/id, AddItem/reason, which a new object does not have")
            }, "\(notes)")
    }

    @Test func `fifteen hundred operations are read in seconds`() throws {
        var operations: [Operation] = []
        var types = ""
        for index in 0..<300 {
            types += Self.type("Thing\(index)", Self.text("id") + Self.text("name") + Self.text("otherId"))
            let one = #"<xs:element name="thing" type="t:Thing\#(index)"/>"#
            let many = #"<xs:element name="thing" type="t:Thing\#(index)" minOccurs="0" maxOccurs="unbounded"/>"#
            operations += [
                Operation(name: "ListThing\(index)s", gives: many),
                Operation(name: "GetThing\(index)", takes: Self.text("id"), gives: one),
                Operation(name: "CreateThing\(index)", takes: one, gives: one),
                Operation(name: "UpdateThing\(index)", takes: one, gives: one),
                Operation(name: "DeleteThing\(index)", takes: Self.text("id")),
            ]
        }
        let start = ProcessorTime.ofThread()
        let found = try offers(operations, types: types)
        let seconds = ProcessorTime.ofThread() - start
        #expect(found.keys.count { $0.hasPrefix("Thing") } == 300)
        #expect(seconds < 8, "it took \(seconds) s of processor time")
    }
}

/// What was offered, which outlives its batch.
private enum Offered: Decodable {
    case text(String)
    case boolean(Bool)
    case number(Double)
    case list([Offered])
    case object([String: Offered])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode([Offered].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: Offered].self))
        }
    }

    var text: String? { if case .text(let value) = self { value } else { nil } }
    var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    var elements: [Offered] { if case .list(let value) = self { value } else { [] } }
    subscript(name: String) -> Offered? { if case .object(let value) = self { value[name] } else { nil } }
}
