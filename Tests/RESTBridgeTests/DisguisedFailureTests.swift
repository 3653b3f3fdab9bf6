import BridgeKit
import RESTBridge
import TestSupport
import Testing

/// A failure that comes with status 200 is no empty listing: rows would be deleted.
@Suite struct DisguisedFailureTests {
    let server: RemoteServer

    private static let shared = Result { try RemoteServer.fixture("apis.py") }

    init() throws { server = try Self.shared.get() }

    private func scanned(_ body: String, _ section: Literal.Members = []) throws -> Scan {
        let bridge = try RESTBridgeTests.bridge(["url": .text(server.url)])
        return try Scan(
            source(bridge, .object([("path", "/says"), ("query", ["body": .text(body)])] + section)))
    }

    @Test(arguments: [
        (#"{"success": false, "message": "quota exceeded", "data": []}"#, "$.success is false", "quota exceeded"),
        (#"{"ok": false, "error": "invalid_auth"}"#, "$.ok is false", "invalid_auth"),
        (#"{"error": {"code": 190, "message": "Token expired"}}"#, "$.error is an object", "Token expired"),
        (#"{"error": {"code": 0, "cause": {"name": {}}}, "items": []}"#, "$.error is an object", nil),
        (#"{"data": null, "errors": [{"detail": "no such tenant"}]}"#, "$.errors is a list", "no such tenant"),
        (#"{"Response": "False", "Error": "Invalid API key!"}"#, "$.Error is a text", "Invalid API key!"),
        (#"{"items": [], "status": "error", "msg": "try later"}"#, "$.status is error", "try later"),
        (#"{"code": 40001, "msg": "bad signature", "data": []}"#, "$.code is 40001", "bad signature"),
        (#"{"meta": {"error_message": "gone"}, "data": []}"#, "$.meta.error_message is a text", "gone"),
        (#"{"status": 503, "items": []}"#, "$.status is 503", nil),
        (#"{"errcode": 42, "list": []}"#, "$.errcode is 42", nil),
        (#"{"results": [], "status": "REQUEST_DENIED"}"#, "$.status is REQUEST_DENIED", "REQUEST_DENIED"),
        (#"{"status": {"error_code": 1001, "reason": "no key"}, "data": []}"#, "$.status.error_code is 1001", "no key"),
        (#"{"hasError": true, "message": "down", "rows": []}"#, "$.hasError is true", "down"),
    ])
    func `a reply without records that describes a failure is one`(body: String, sign: String, words: String?) throws {
        let error = try bridgeError { _ = try scanned(body) }
        #expect(error.code == .remote)
        #expect(error.message == "page 1 of User: the reply has status 200 and no records, but says \(sign)")
        #expect(error.remote == words)
        #expect(error.remedy?.contains("responses: {when: {path: \(sign.prefix { $0 != " " })") == true)
        #expect(!error.isRetryable)
    }

    @Test(arguments: [
        #"{"success": true, "data": []}"#, #"{"data": [], "error": null, "errors": []}"#,
        #"{"error": "", "items": []}"#, #"{"status": "ZERO_RESULTS", "results": []}"#,
        #"{"hasError": false, "rows": []}"#,
        #"{"status": "ok", "items": []}"#, #"{"status": 200, "items": []}"#,
        #"{"code": 0, "message": "success", "data": []}"#, #"{"errors": {}, "results": []}"#, "[]",
        #"{"error": {"code": 0, "message": "OK"}, "items": []}"#,
    ])
    func `a reply without records that is well is an empty listing`(body: String) throws {
        let scan = try scanned(body)
        #expect(scan.records.isEmpty)
        #expect(scan.last?.isComplete == true)
    }

    @Test func `records count for more than what stands beside them`() throws {
        let scan = try scanned(#"{"success": false, "data": [{"id": 1}]}"#)
        #expect(scan.ids == [1])
        // A record may itself have failed.
        #expect(try scanned(#"{"id": 7, "status": "failed", "error": "disk"}"#).ids == [7])
    }

    @Test func `a rule says otherwise`() throws {
        let body = #"{"success": false, "message": "none", "data": []}"#
        let rule: Literal = [["when": ["path": "$.success", "equals": "false"], "action": "empty"]]
        #expect(try scanned(body, [("responses", rule)]).last?.isComplete == true)
        let accepted: Literal = [["when": ["path": "$.success"], "action": "accept"]]
        #expect(try scanned(body, [("responses", accepted)]).last?.isComplete == true)
    }

    @Test func `a rule for a part of a text leaves other texts as they are`() throws {
        func rule(_ action: String) -> Literal {
            [["when": ["path": "$.error", "contains": "not enabled"], "action": .text(action)]]
        }
        let told = #"{"error": "Feature not enabled", "data": []}"#
        #expect(try scanned(told, [("responses", rule("empty"))]).last?.isComplete == true)
        let error = try bridgeError { _ = try scanned(told, [("responses", rule("fail"))]) }
        #expect(error.message.contains(#"with $.error that contains "not enabled" means a failure"#), "\(error)")
        for other in [#"{"error": "down", "data": []}"#, #"{"error": {"not enabled": 1}, "data": []}"#] {
            #expect(throws: BridgeError.self, "\(other)") { try scanned(other, [("responses", rule("empty"))]) }
        }
        for more: Literal.Members in [[("contains", "")], [("contains", "a"), ("equals", "ab")]] {
            let faulty: Literal = [["when": .object([("path", "$.error")] + more), "action": "fail"]]
            #expect(throws: BridgeError.self) { try scanned(told, [("responses", faulty)]) }
        }
    }

    @Test(
        arguments: [
            (.decimal("1.10"), "1.1", true), (.decimal("1.10"), #""1.10""#, true), (.decimal("1.10"), #""1.1""#, false),
            ("007", #""007""#, true), ("007", "7", false), (1, "1.0", true),
            (.decimal("12345678901234567890"), "12345678901234567891", false),
        ] as [(Literal, String, Bool)])
    func `a rule for a number matches each notation of it`(_ wanted: Literal, _ value: String, _ isMatch: Bool) throws {
        let rule: Literal = [["when": ["path": "$.state", "equals": wanted], "action": "empty"]]
        let scan = try scanned(#"{"state": \#(value), "data": [{"id": 1}]}"#, [("responses", rule)])
        #expect(scan.records.isEmpty == isMatch)
    }

    @Test func `a rule for null matches no other value`() throws {
        let rule: Literal = [["when": ["path": "$.state", "equals": nil], "action": "empty"]]
        #expect(try scanned(#"{"state": null, "data": [{"id": 1}]}"#, [("responses", rule)]).records.isEmpty)
        #expect(try scanned(#"{"state": "full", "data": [{"id": 1}]}"#, [("responses", rule)]).ids == [1])
        #expect(try scanned(#"{"data": [{"id": 1}]}"#, [("responses", rule)]).ids == [1])
    }

    @Test func `a failure in place of the records is reported in the remote's words`() throws {
        let error = try bridgeError { _ = try scanned(#"{"error": "rate limit"}"#, [("records", "$.items")]) }
        #expect(error.code == .remote)
        #expect(error.remote == "rate limit")
    }

    @Test(arguments: [
        (#""retcode": -1"#, true), (#""code": "E1""#, true), (#""ResultCode": "E001""#, true),
        (#""return_code": "FAIL""#, true), (#""err": "boom""#, true), (#""result_code": 500"#, true),
        (#""retcode": 0"#, false), (#""code": "NO_ERROR""#, false), (#""ResultCode": "10000""#, false),
        (#""return_code": "SUCCESS""#, false), (#""err": """#, false), (#""result_code": 1"#, false),
        (#""err": "0""#, false), (#""err": "success""#, false), (#""err": "null""#, false),
        (#""err": "no error""#, false), (#""err": "none""#, false), (#""err": "ok""#, false),
        (#""code": "E0000""#, false), (#""code": "00000""#, false), (#""error": "No errors""#, false),
        (#""error": {"code": 0, "message": ""}"#, false), (#""error": {"code": 0, "message": "quota"}"#, true),
        (#""code": 20000, "message": "success""#, false), (#""code": "10000", "msg": "Success""#, false),
        (#""code": 20003, "message": "Rate limit applied""#, true),
        (#""code": 20003, "message": "Request accepted, result pending""#, true),
        (#""code": 20003, "message": "Successive requests are throttled""#, true),
        (#""code": 20003, "message": "Login successful, account suspended""#, true),
        (#""code": 20000, "message": "Data retrieved successfully""#, false), (#""code": 20000, "msg": "查询成功""#, false),
        (#""code": 20000, "message": "unsuccessful""#, true), (#""code": "40001""#, true),
        (#""code": 20003, "message": "Rate limit applied""#, true), (#""code": 20003, "message": "Accepted""#, true),
        (#""code": 20003, "message": "Request accepted, result pending""#, true),
        (#""code": 20003, "message": "Successive requests are throttled""#, true),
        (#""code": 20003, "message": "Login successful, account suspended""#, true),
        (#""code": 20003, "message": "Login successful, your trial has ended""#, true),
        (#""code": 20003, "message": "Login successful. Account locked""#, true),
        (#""code": 20000, "message": "Orders retrieved successfully.""#, false),
        (#""code": 20000, "message": "OK, success""#, false), (#""code": 20000, "message": "操作成功""#, false),
        (#""code": 20000, "msg": "Done""#, false),
        (#""status": "Completed without errors""#, false), (#""error_message": "SUCCESS""#, false),
        (#""errorCode": "NO_DATA""#, false), (#""errorCode": "INVALID_SESSION""#, true),
        (#""ok": true, "warning": "x""#, false), (#""_shards": {"failed": 0}"#, false),
    ])
    func `the code of a result beside an empty list may say that it failed`(member: String, isFailure: Bool) throws {
        let body = #"{"data": [], \#(member)}"#
        if isFailure {
            #expect(try bridgeError { _ = try scanned(body, [("records", "$.data")]) }.code == .remote)
        } else {
            let scan = try scanned(body, [("records", "$.data")])
            #expect(scan.records.isEmpty && scan.last?.isComplete == true, "\(scan)")
        }
    }
}
