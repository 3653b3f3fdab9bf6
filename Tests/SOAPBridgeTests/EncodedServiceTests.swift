import BridgeKit
import Foundation
import TestSupport
import Testing

@testable import SOAPBridge

/// SOAP encoding against PHP's SoapServer.
@Suite struct EncodedServiceTests {
    private let server: RemoteServer

    init() async throws { server = try await RemoteServer.soap("encoded.php", "encoded.wsdl") }

    private func options(_ port: String) -> Literal {
        ["wsdl": .text(server.url + "/service?wsdl"), "port": .text(port), "wsdl_cache": ""]
    }

    private func expected(_ index: Int) -> String {
        #"{"@xsi:type":"{urn:enc}Item","id":\#(index),"price":0.10,"owner":{"@xsi:type":"{urn:enc}Owner","name":"Ann & <b>","age":7},"#
            + #""tags":[\#(index % 2 == 1 ? #""a","Zoë""# : "")],"made":"2020-01-02"}"#
    }

    @Test(arguments: ["P11", "P12"], ["listItemsResponse/return/item", "return/*", "listItemsResponse/return"])
    func `an array of records, which share an object, is scanned page by page`(port: String, records: String) throws {
        let scan = try Scan.run(
            options(port),
            [
                "operation": "listItems", "records": .text(records), "input": ["names": .array(["Zoë", "x"])],
                "paging": ["style": "offset", "offset_element": "from", "limit_element": "count", "size": 100],
            ])
        #expect(scan.records == (0..<250).map(expected))
        let warnings = scan.pages.flatMap(\.warnings)
        let end = "nothing counts as deleted: name paging.total"
        #expect(warnings.count == 1 && warnings[0].hasSuffix(end))
    }

    @Test(arguments: ["P11", "P12"])
    func `an object goes to the service and back`(port: String) throws {
        let item: Literal = [
            "id": 5, "price": "1.50", "owner": ["name": "Bo", "age": 3], "tags": .array([]), "made": "2020-02-29",
        ]
        let scan = try Scan.run(
            options(port), ["operation": "echoItem", "records": "return", "input": ["item": item]])
        #expect(
            scan.records == [
                #"{"@xsi:type":"{urn:enc}Item","id":5,"price":1.500,"owner":{"@xsi:type":"{urn:enc}Owner","name":"Bo","age":3},"tags":[],"made":"2020-02-29"}"#
            ])
        let request = try String(contentsOfFile: server.folder.appending("request.xml"), encoding: .utf8)
        #expect(request.contains("encodingStyle="), "\(request)")
        #expect(request.contains(#":decimal">1.50</price>"#), "\(request)")
    }
}
