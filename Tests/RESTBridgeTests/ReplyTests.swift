import BridgeKit
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// What becomes of replies: values, records, and everything that is no JSON or not the expected one.
@Suite struct ReplyTests {
    let server: RemoteServer
    let bridge: RESTBridge

    init() throws {
        server = try RemoteServer.shared.get()
        bridge = try RESTBridgeTests.bridge(["url": "\(server.url)"])
    }

    private func scan(_ path: String, records: String? = "$.items") throws -> Scan {
        var section: Literal = ["path": .text(path)]
        if let records { section = ["path": .text(path), "records": .text(records)] }
        return try Scan(source(bridge, section))
    }

    @Test func `integers of 64 bits are integers, all other numbers keep their characters`() throws {
        let records = try scan("/well/numbers").records
        let expected =
            #"{"a":9007199254740993,"b":9223372036854775807,"c":9223372036854775808,"d":-9223372036854775808,"#
            + #""e":0.1,"f":1e400,"g":-0,"h":12345678901234567890.12345678901234567890,"i":1E2,"#
            + #""j":-9223372036854775809,"k":18446744073709551616,"l":1.0}"#
        #expect(records == [expected])
    }

    @Test func `texts lose their escapes and nothing else`() throws {
        #expect(
            try scan("/well/texts").records == [
                #"{"a":"é😀","b":"é😀","c":"\"\\/\u0008\u000c\n\r\t","d":"\u0000","e":""}"#
            ])
    }

    @Test(arguments: [
        ("bom", "$.items", [#"{"id":1}"#]),
        ("white-space", "$.items", [#"{"id":1}"#]),
        ("duplicate-keys", "$.items", [#"{"id":1,"id":2}"#]),
        ("empty-names", "$.items", [#"{"":{"":1}}"#]),
        ("escaped-keys", "$.items", [#"{"name":"x"}"#]),
        ("nested", "$.data['list of']", [#"{"id":1,"o":{},"a":[],"n":null,"t":true,"f":false}"#]),
        ("wildcard", "$.groups[*].users", [#"{"id":1}"#, #"{"id":2}"#, #"{"id":3}"#]),
        ("wildcard", "$.groups[*].users[*]", [#"{"id":1}"#, #"{"id":2}"#, #"{"id":3}"#]),
        ("map", "$.items.*", [#"{"@key":"a","id":1}"#, #"{"@key":"b","id":2}"#]),
        ("root-object", "$", [#"{"id":7,"name":"one"}"#]),
    ])
    func `records are found by their path`(name: String, path: String, expected: [String]) throws {
        #expect(try scan("/well/\(name)", records: path).records == expected)
    }

    @Test func `without a path the root is taken where it leaves no doubt`() throws {
        #expect(try scan("/well/root-array", records: nil).ids == [1, 2])
        #expect(try scan("/well/root-object", records: nil).ids == [7])
        #expect(try scan("/well/root-wrapped", records: nil).ids == [1])
        let error = try bridgeError { _ = try scan("/well/root-doubtful", records: nil) }
        #expect(error.code == .configuration)
        #expect(
            error.remedy
                == "set records to one of: $.orders, $.friends; or to $ if the object itself is the record")
    }

    @Test func `a hundred levels are kept`() throws {
        let records = try scan("/well/depth-100").records
        let nest = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
        #expect(records == ["{\"d\":\(nest)}"])
    }

    @Test func `204 is an empty listing`() throws {
        let scan = try scan("/no-content", records: nil)
        #expect(scan.records.isEmpty)
        #expect(scan.last?.isComplete == true)
    }

    @Test func `a null list deletes nothing`() throws {
        #expect(try scan("/malformed/records-null").last?.isComplete == false)
    }

    /// Each row stands in docs/rest.md.
    @Test(arguments: [
        ("empty", "page 1 of User: the reply is empty where JSON was expected"),
        ("blank", "page 1 of User: the reply is empty where JSON was expected"),
        ("truncated", "page 1 of User is not JSON: the text ends in the middle of a value, at byte 30"),
        ("unclosed-string", "is not JSON: the text ends in the middle of the string that begins here, at byte 20"),
        ("trailing", "page 1 of User is not JSON: something follows the JSON value, at byte 23"),
        ("trailing-garbage", "page 1 of User is not JSON: something follows the JSON value, at byte 12"),
        ("garbage-after-records", "page 1 of User is not JSON: this is not a JSON value, at byte 31"),
        ("invalid-utf8", "page 1 of User is not JSON: the text is not UTF-8, at byte 30"),
        ("utf16", "is not JSON: the text is UTF-16 or UTF-32; JSON is UTF-8, at byte 0"),
        ("nan", "page 1 of User is not JSON: this is not a JSON value, at byte 18"),
        ("bare-word", "page 1 of User is not JSON: this is not a JSON value, at byte 0"),
        ("comma", "page 1 of User is not JSON: a comma must be followed by a value, at byte 21"),
        ("single-quotes", "page 1 of User is not JSON: a member's name must be a string, at byte 1"),
        ("control", "is not JSON: a string holds a control character that must be escaped, at byte 22"),
        ("bad-escape", "page 1 of User is not JSON: this is not an escape of a JSON string, at byte 21"),
        ("leading-zero", "page 1 of User is not JSON: this is not a JSON number, at byte 18"),
        ("records-text", "page 1 of User: the value at $.items is not an object or array"),
        ("records-missing", "page 1 of User: the reply has nothing at $.items"),
    ])
    func `a malformed reply is an error that names page, place and byte`(name: String, message: String) throws {
        let error = try bridgeError { _ = try scan("/malformed/\(name)") }
        #expect(error.code == .malformed)
        #expect(error.message.hasSuffix(message), "\(error.message)")
        #expect(error.location == server.url + "/malformed/\(name)")
    }

    @Test func `a missing path names the lists that are there`() throws {
        let error = try bridgeError { _ = try scan("/malformed/records-missing") }
        #expect(error.remedy == "set records to one of: $.things, $.users")
    }

    @Test func `too many levels are refused`() throws {
        let error = try bridgeError { _ = try scan("/malformed/very-deep") }
        #expect(error.code == .limit)
        #expect(error.message == "page 1 of User: more than 1,024 levels, at byte 1035")
    }

    @Test func `a record that is not an object goes to quarantine and the others stay`() throws {
        let scan = try scan("/malformed/scalar-record")
        #expect(scan.records == [#"{"id":3}"#])
        #expect(scan.rejected.map(\.index) == [0, 1])
        #expect(scan.rejected.map(\.representation) == ["1", #""two""#])
        #expect(scan.rejected.first?.reason == "a record must be an object")
    }

    @Test func `a page of nothing but bad records is handed out in pieces`() throws {
        let scan = try scan("/scalars?count=1200", records: nil)
        #expect(scan.rejected.compactMap(\.index) == Array(0..<1200))
        #expect(scan.pages.map(\.rejected.count) == [500, 500, 200])
        #expect(scan.pages.map(\.isPageEnd) == [false, false, true])
    }

    @Test func `a record with half a surrogate pair goes to quarantine`() throws {
        let scan = try scan("/malformed/lone-surrogate")
        #expect(scan.records.isEmpty)
        #expect(scan.rejected.map(\.representation) == [#"{"id": 1, "name": "\ud800 x"}"#])
        #expect(scan.rejected.first?.reason == "a text holds half of a surrogate pair, which is not a character")
    }

    @Test func `a record too deep for a batch goes to quarantine`() throws {
        let scan = try scan("/malformed/deep")
        #expect(scan.rejected.count == 1)
        #expect(scan.records.isEmpty)
    }

    @Test func `a web page instead of JSON is called one`() throws {
        let error = try bridgeError { _ = try scan("/html") }
        #expect(error.code == .malformed)
        #expect(
            error.message
                == "page 1 of User: the server sent a web page (text/html; charset=utf-8) where JSON was expected")
        #expect(error.remote == "Sign in please")
    }

    @Test func `a reply that breaks off is malformed and may be asked for again`() throws {
        for path in ["/truncated", "/truncated-chunks", "/cut-gzip/close?always"] {
            let error = try bridgeError { _ = try scan(path) }
            #expect(error.code == .malformed)
            #expect(error.isRetryable)
            #expect(error.message.contains("broke off after"))
        }
    }

    @Test func `a compressed reply is read`() throws {
        #expect(try scan("/gzip").ids == Array(1...1000))
    }

    @Test func `a huge page comes in several batches that end as one page`() throws {
        let count = 60_000
        let scan = try scan("/users?count=\(count)", records: nil)
        #expect(scan.ids == Array(1...count))
        #expect(scan.pages.count > 1)
        #expect(scan.pages.dropLast().nonEmptyAllSatisfy { !$0.isPageEnd && !$0.isEnd })
        #expect(scan.last?.isPageEnd == true)
    }

    @Test(arguments: [
        (401, BridgeError.Code.authentication, false), (403, .permission, false), (404, .notFound, false),
        (410, .notFound, false), (409, .conflict, false), (429, .rateLimited, true), (500, .remote, true),
        (503, .remote, true), (501, .remote, false), (400, .remote, false),
    ])
    func `each status has its code`(status: Int, code: BridgeError.Code, retryable: Bool) throws {
        let error = try bridgeError { _ = try scan("/status/\(status)") }
        #expect(error.code == code)
        #expect(error.isRetryable == retryable)
        #expect(error.message.hasPrefix("page 1 of User: the server answers \(status)"))
        #expect(error.remote?.contains("said the API") == true)
    }

    @Test func `Retry-After is passed on`() throws {
        #expect(try bridgeError { _ = try scan("/status/429?retry_after=7") }.retryAfterMilliseconds == 7000)
        #expect(try bridgeError { _ = try scan("/status/429?retry_after=2.5") }.retryAfterMilliseconds == 2500)
        #expect(try bridgeError { _ = try scan("/status/429?retry_after=0.0001") }.retryAfterMilliseconds == 1)
        #expect(try bridgeError { _ = try scan("/status/429?retry_after=1.2.3") }.retryAfterMilliseconds == nil)
        #expect(
            try bridgeError { _ = try scan("/status/503?retry_after=Wed,%2021%20Oct%202015%2007:28:00%20GMT") }
                .retryAfterMilliseconds == 0)
        let far = try bridgeError {
            _ = try scan("/status/429?retry_after=Sun,%2006%20Nov%202147483647%2008:49:37%20GMT")
        }
        #expect(far.isRetryable, "a date as far away as a server likes is no reason to stop the process")
    }
}
