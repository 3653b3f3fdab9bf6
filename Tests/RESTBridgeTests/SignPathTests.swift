import BridgeJSON
import BridgeKit
import TestSupport
import Testing

@testable import BridgeHTTP
@testable import RESTBridge

/// The paths of what is looked at beside the records.
@Suite struct SignPathTests {
    @Test func `names without quotes have letters and digits of any script`() throws {
        let path = try JSONPath("$.größe.名前٣.x2-_Y@z", option: "records")
        #expect(path.segments == [.name("größe"), .name("名前٣"), .name("x2-_Y@z")])
        let filter = try JSONPath("$.a[?@.öl-2=='x']", option: "records")
        #expect(filter.segments == [.name("a"), .filter(name: "öl-2", value: "x")])
    }

    @Test(arguments: [" ", "+", "$", "/", ":", "`", "{", "€"])
    func `other characters end a name`(character: String) throws {
        let error = try bridgeError { _ = try JSONPath("$.ab\(character)", option: "records") }
        #expect(error.message.contains("unexpected \"\(character)\" at character 5"))
    }

    @Test func `flags are looked for in each object around the list, the others at the root only`() {
        let paths = PartialFailure.paths(in: ["$", "$.data"]).map(\.description)
        #expect(paths.first == "$.errors[0]")
        #expect(paths.contains("$.responseHeader.partialResults"))
        #expect(
            paths.suffix(8) == [
                "$.incomplete", "$.partial", "$.is_partial", "$.isPartial", "$.data.incomplete", "$.data.partial",
                "$.data.is_partial", "$.data.isPartial",
            ])
        #expect(PartialFailure.paths(in: ["$"]).map(\.description) == Array(paths.dropLast(4)))
    }

    @Test(arguments: [
        (#"{"request": {"id": 1, "more": false}, "items": []}"#, ["$"]),
        (#"{"@attr": {"page": 1}, "items": []}"#, ["$", "$['@attr']"]),
        (#"{"meta": {"total": 1}, "header": {"page": 1}, "items": []}"#, ["$", "$.meta", "$.header"]),
    ])
    func `the usual objects describe a page as far as a reply has them`(body: String, homes: [String]) throws {
        let records = try JSONPath("$.items", option: "records")
        let url = try #require(HTTPURL("https://example.org/items"))
        let response = HTTPResponse(
            status: 200, headers: [], url: url.text, lostCredentials: false, sessionHeader: nil,
            redactor: HTTPRedactor(secrets: []))
        let detector = PagingDetector(
            survey: ReplySurvey(HTTPExchange.PaddedBody(body.utf8)), response: response, url: url, count: { nil },
            given: [], records: records)
        #expect(detector.homes == homes)
    }
}
