import BridgeKit
import Foundation
import RecordBatch
import TestSupport
import Testing

@testable import SOAPBridge

/// Against a server that answers as badly as asked: the path of the endpoint says how.
@Suite struct BadReplyTests {
    private let server: RemoteServer

    init() async throws { server = try await RemoteServer.python("bad-replies.py") }

    private func scan(_ name: String, options: Literal = [:], section: Literal = [:]) throws -> Scan {
        let wsdl = try server.folder.write(Samples.wsdl(schemas: ""), to: "s.wsdl")
        return try Scan.run(
            (["wsdl": .text(wsdl), "endpoint": .text("\(server.url)/\(name)")] as Literal).adding(options),
            ([
                "operation": "List", "records": "ListResponse/items/item", "input": ["offset": 0],
                "paging": ["style": "none", "total": "ListResponse/total"],
            ] as Literal).adding(section))
    }

    @Test func `a reply with a wrong media type and odd values is read, and what was tolerated is reported once`()
        throws
    {
        let scan = try scan("odd")
        #expect(scan.records == Array(repeating: #"{"id":null,"name":"n","strange":"1"}"#, count: 2))
        #expect(
            scan.pages.last?.warnings == [
                "tolerated deviations in the replies: the Content-Type text/html is not an XML type; "
                    + "<id> is empty where a value of its type belongs: read as null (2 times)"
            ])
    }

    @Test func `a reply with an attachment brings its bytes`() throws {
        #expect(try scan("parts").records == Array(repeating: #"{"image":"YWJj"}"#, count: 2))
    }

    @Test func `rules turn faults into an end, another error or another try`() throws {
        func faults(_ rule: Literal) -> Literal { ["faults": .array([rule])] }
        let none = try scan("fault500", section: faults(["code": "Server", "action": "empty"]))
        #expect(none.records.isEmpty)
        #expect(none.pages.last?.isComplete == true)
        let ended = try scan("fault200", options: faults(["reason": "BUSY", "status": 200, "action": "ignore"]))
        #expect(ended.pages.last?.isEnd == true)
        #expect(ended.pages.last?.isComplete == false)
        #expect(ended.pages.last?.warnings == ["ended at a fault, as the option faults says: Server: busy"])
        let limited = try bridgeError {
            _ = try scan("fault200", section: faults(["reason": "busy", "action": "rate_limited", "wait": 3]))
        }
        #expect(limited.code == .rateLimited && limited.isRetryable)
        #expect(limited.retryAfterMilliseconds == 3000)
        // A rule of the entity comes before one of the bridge, and one that does not fit changes nothing.
        let first = try bridgeError {
            _ = try scan(
                "fault503", options: faults(["code": "Server", "action": "not_found"]),
                section: [
                    "faults": .array([["code": "Client", "action": "ignore"], ["status": 503, "action": "fail"]])
                ])
        }
        #expect(first.code == .remote && !first.isRetryable)
        let wrong = try bridgeError { _ = try scan("good", section: faults(["action": "retry"])) }
        #expect(wrong.message.contains("matches every fault"))
        for detail in ["", " ", "=", "= busy"] {
            let nameless = try bridgeError {
                _ = try scan("fault500", section: faults(["detail": .text(detail), "action": "empty"]))
            }
            #expect(nameless.code == .configuration)
            #expect(nameless.message.contains("has the detail \"\(detail)\", which names no element"), "\(nameless)")
        }
    }

    @Test func `the same token again is an error`() throws {
        let error = try bridgeError {
            _ = try scan(
                "good",
                section: [
                    "paging": [
                        "style": "token", "token": "ListResponse/total", "token_element": "tag",
                        "limit_element": "limit",
                    ]
                ])
        }
        #expect(error.code == .malformed)
        #expect(error.message.contains("the same records as an earlier page"), "\(error)")
    }

    @Test func `an unchanged WSDL is not sent again, and a changed one is`() throws {
        let cache = server.folder.appending("cache/wsdl")
        let text = Samples.wsdl(schemas: "")
        try server.folder.write(text, to: "s.wsdl")
        func check() throws -> String? {
            let options: Literal = ["wsdl": .text(server.url + "/s.wsdl?key=sesame42"), "wsdl_cache": .text(cache)]
            return try SOAPBridge(options: options.options, context: BridgeContext()).check()
        }
        let first = try check()
        #expect(!server.log.contains("not modified"))
        #expect(try check() == first)
        #expect(server.log.contains("not modified"))
        let kept = try FileManager.default.contentsOfDirectory(atPath: cache)
        #expect(kept.count == 1)
        for name in kept {
            let words = try String(contentsOfFile: "\(cache)/\(name)", encoding: .utf8)
            #expect(!words.contains("sesame42"), "the URL's query may hold a secret")
        }
        try server.folder.write(text.replacing("name=\"Shop\"", with: "name=\"Shop2\""), to: "s.wsdl")
        #expect(try check()?.contains("service Shop2") == true)
    }

    @Test func `a WSDL from the disk and a good reply make records`() throws {
        let scan = try scan("good")
        #expect(scan.records == [#"{"id":0,"name":"n"}"#, #"{"id":1,"name":"n"}"#])
        #expect(scan.pages.last?.isComplete == true)
        #expect(scan.pages.last?.location == "\(server.url)/good")
    }

    @Test(arguments: [
        ("malformed", BridgeError.Code.malformed, "at line 2 (after record 1)"),
        ("halfway", .malformed, "not well-formed"),
        ("trailing", .malformed, "Extra content"),
        ("truncated", .malformed, "bytes"),
        ("html200", .malformed, "a web page, not XML"),
        ("json", .malformed, "application/json, not XML"),
        ("html500", .remote, "500"),
        ("html401", .authentication, "401"),
        ("html404", .notFound, "404"),
        ("mtom", .malformed, "no part with an envelope"),
        ("doctype", .malformed, "DOCTYPE"),
        ("xxe", .malformed, "DOCTYPE"),
        ("fault401", .authentication, "401"),
        ("xml500", .remote, "500"),
        ("empty", .malformed, "is empty"),
        ("wsdl", .malformed, "root element is <definitions>"),
    ])
    func `a bad reply is an error in words`(name: String, code: BridgeError.Code, words: String) throws {
        let error = try bridgeError { _ = try scan(name) }
        #expect(error.code == code, "\(error)")
        #expect(error.message.contains(words), "\(error)")
        #expect(error.location == "\(server.url)/\(name)")
        if error.code != .unsupported, name != "truncated", name != "fault401", name != "xml500",
            !name.hasPrefix("html")
        {
            #expect(error.message.contains("Product"), "\(error)")
        }
    }

    @Test func `a web page's title and a fault's words are passed on`() throws {
        #expect(try bridgeError { _ = try scan("html404") }.remote == "Gone")
        #expect(try bridgeError { _ = try scan("fault401") }.remote == "Server: busy")
        #expect(try bridgeError { _ = try scan("json") }.remote == #"{"error": "no"}"#)
    }

    @Test func `a fault is worth another try only when the server says that it is unavailable`() throws {
        for name in ["fault200", "fault500"] {
            let error = try bridgeError { _ = try scan(name) }
            #expect(error.code == .remote)
            #expect(error.remote == "Server: busy")
            #expect(!error.isRetryable)
        }
        let unavailable = try bridgeError { _ = try scan("fault503") }
        #expect(unavailable.isRetryable)
        #expect(unavailable.retryAfterMilliseconds == 7000)
        #expect(try bridgeError { _ = try scan("html503") }.isRetryable)
    }

    @Test func `an external subset is not asked for`() throws {
        _ = try bridgeError { _ = try scan("xxe") }
        #expect(!server.log.contains("stolen"))
        #expect(server.log.contains("/xxe"))
    }

    @Test(arguments: [
        ("ftp://x/y", "http(s) URL"), ("relative.wsdl", "absolute path"), ("http://u:secret@h/x", "password"),
        ("/nonexistent/x.wsdl", "can't be opened"), ("/tmp", "not a regular file"), ("http://127.0.0.1:1/x", "connect"),
    ])
    func `a WSDL that cannot be fetched is reported`(wsdl: String, words: String) throws {
        let error = try bridgeError {
            _ = try SOAPBridge(options: (["wsdl": .text(wsdl)] as Literal).options, context: BridgeContext())
                .check()
        }
        #expect(error.message.contains(words), "\(error)")
        #expect(!"\(error)".contains("secret"))
    }

    @Test(arguments: [" a@='x'", " xmlns:a@='urn:x@'"], [1 << 16, 4093])
    func `hundreds of thousands of attributes or namespaces are refused before they cost anything`(
        attribute: String, piece: Int
    ) throws {
        let many = (0..<400_000).map { attribute.replacing("@", with: "\($0)") }.joined()
        let start = ProcessorTime.ofThread()
        let outcome = try Samples.read(
            Samples.list("<n:item\(many)><n:id>1</n:id></n:item>"), Samples.plan(Samples.load()), piece: piece)
        #expect(outcome.error?.code == .limit && outcome.error?.message.contains("more than 2000 attributes") == true)
        #expect(ProcessorTime.ofThread() - start < 5)
    }

    @Test func `long texts, comments and values with brackets are not tags with many attributes`() throws {
        let text = String(repeating: "x='1' y=&quot;2&quot; > ", count: 20_000)
        let value = String(repeating: " a='1' > b", count: 5_000)
        let reply = Samples.list(
            "<!-- \(text) --><n:item><n:id>1</n:id><n:other v=\"\(value)\">\(text)</n:other></n:item>")
        for piece in [4093, 1 << 16, Int.max] {
            let outcome = try Samples.read(reply, Samples.plan(Samples.load()), piece: piece)
            #expect(outcome.error == nil && outcome.records.count == 1, "\(String(describing: outcome.error))")
        }
    }

    @Test(arguments: [1, 2, 3, 64, Int.max])
    func `a reply in UTF-16 that only its Content-Type says is read`(piece: Int) throws {
        let text =
            "\n"
            + Samples.list("<n:item><n:id>1</n:id><n:name>\u{e9}\u{1F600}</n:name></n:item>")
            .replacing(#"<?xml version="1.0" encoding="UTF-8"?>"#, with: "").replacing(
                #"<?xml version="1.0"?>"#, with: "")
        for isBig in [true, false] {
            let bytes = text.utf16.flatMap { unit -> [UInt8] in
                let pair = [UInt8(unit >> 8), UInt8(unit & 255)]
                return isBig ? pair : pair.reversed()
            }
            let reader = try ReplyReader(plan: Samples.plan(Samples.load()), contentType: "text/xml; charset=UTF-16")
            let writer = RecordBatchWriter()
            var rest = bytes[...]
            while !rest.isEmpty {
                try reader.feed(rest.prefix(piece), into: writer)
                rest = rest.dropFirst(min(piece, rest.count))
            }
            try reader.finish()
            let batch = try writer.finish()
            #expect(batch.count == 1 && batch[0].json == "{\"id\":1,\"name\":\"\u{e9}\u{1F600}\"}")
        }
    }
}
