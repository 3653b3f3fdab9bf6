import Glibc
import RecordBatch
import TestSupport
import Testing

@testable import BridgeHost

@Suite struct AnswerDecodingTests {
    private let log = BridgeLog(LogLines().logger, bridge: "b", redactor: Redactor(secrets: ["hunter22"]))

    private func bytes(_ body: (RecordBatchWriter) -> Void) throws -> ForeignBytes {
        let writer = RecordBatchWriter()
        writer.object { body(writer) }
        return ForeignBytes(try writer.finish())
    }

    private func page(_ body: (RecordBatchWriter) -> Void) throws -> PageInfo {
        try PageInfo.decode(try bytes(body), log: log, limit: 4 << 20)
    }

    private func failure(_ body: (RecordBatchWriter) -> Void) throws -> BridgeFailure {
        BridgeFailure.decode(try bytes(body), doing: "check", log: log, limit: 4 << 20)
    }

    @Test func `a whole error keeps its members`() throws {
        let failure = try failure { writer in
            for (key, value) in [
                ("code", "rate_limited"), ("message", "too\nmany"), ("remedy", "wait"), ("location", "/u?k=hunter22"),
                ("remote", "slow down"),
            ] {
                writer.key(key)
                writer.text(value)
            }
            writer.key("retryable")
            writer.bool(true)
            writer.key("retry_after")
            writer.int64(1500)
        }
        #expect(
            failure.description
                == "b: rate_limited: too many (/u?k=***); the remote says: slow down; wait")
        #expect(failure.isRetryable)
        #expect(failure.retryAfter == .milliseconds(1500))
    }

    @Test func `an error of an unknown code is a protocol failure with its message`() throws {
        let failure = try failure { writer in
            writer.key("code")
            writer.text("crashed")
            writer.key("message")
            writer.text("with hunter22")
        }
        #expect(failure.code == .malformed)
        #expect(
            failure.message
                == "the bridge answered with an unreadable error (check): unknown code `crashed`: with ***")
    }

    @Test func `an error without bytes says that the reason is missing`() {
        let failure = BridgeFailure.decode(nil, doing: "check", log: log, limit: 100)
        #expect(failure.message == "the bridge failed without saying why (check)")
    }

    @Test(arguments: [Int64.min, -1, .max])
    func `an absurd retry after is bounded`(milliseconds: Int64) throws {
        let failure = try failure { writer in
            writer.key("code")
            writer.text("remote")
            writer.key("retry_after")
            writer.int64(milliseconds)
        }
        #expect(failure.retryAfter == (milliseconds < 0 ? .zero : .seconds(36_500 * 86_400)))
    }

    @Test func `a far pause is reported as the remote asked for it`() throws {
        let failure = try failure { writer in
            writer.member("code", "rate_limited")
            writer.member("message", "busy")
            writer.member("retryable", true)
            writer.member("retry_after", 99_999_999_000)
        }
        #expect(
            RetryPolicy().told(failure, tries: 1).message
                == "busy; it requests a pause of 99999999 s, longer than the 120 s that bmo waits")
    }

    @Test func `a scan that is out of date says so`() throws {
        for (value, startsOver) in [(true, true), (false, false)] {
            let failure = try failure { writer in
                writer.member("code", "conflict")
                writer.member("message", "the file changed")
                writer.member("start_over", value)
            }
            #expect(failure.code == .conflict && failure.startsOver == startsOver)
        }
    }

    @Test func `a write that may have arrived says so`() throws {
        for mayHaveArrived in [true, false] {
            let failure = try failure { writer in
                writer.member("code", "unreachable")
                writer.member("message", "the connection broke")
                writer.member("retryable", true)
                writer.member("may_have_arrived", mayHaveArrived)
            }
            #expect(failure.isRetryable && failure.mayHaveArrived == mayHaveArrived)
        }
    }

    @Test func `rejected records arrive without secrets`() throws {
        let page = try page { writer in
            writer.key("rejected")
            writer.array {
                writer.object {
                    writer.key("index")
                    writer.int64(3)
                    writer.key("reason")
                    writer.text("no id")
                    writer.key("representation")
                    writer.text(#"{"key":"hunter22"}"#)
                }
            }
        }
        #expect(page.rejected == [RejectedRecord(index: 3, reason: "no id", representation: #"{"key":"***"}"#)])
    }

    @Test(arguments: [65_529, 65_532, 65_535, 65_536])
    func `a secret at the end of what is kept of a rejected record is taken out whole`(place: Int) throws {
        let page = try page { writer in
            writer.key("rejected")
            writer.array {
                writer.object {
                    writer.key("reason")
                    writer.text("too long")
                    writer.key("representation")
                    writer.text(String(repeating: "x", count: place) + "hunter22" + String(repeating: "y", count: 100))
                }
            }
        }
        let kept = try #require(page.rejected.first?.representation)
        #expect(kept.utf8.count <= 65_536 + 8 && !kept.contains("h"), "\(kept.suffix(20))")
    }

    @Test func `a cursor with a secret is not kept`() throws {
        let page = try page { writer in
            writer.key("cursor")
            writer.text("https://host/next?token=hunter22")
        }
        #expect(page.cursor == nil)
        #expect(page.warnings == ["the page's resume point holds a secret and is not kept"])
    }

    @Test func `a cursor is bounded`() throws {
        #expect(throws: PluginRefusal(reason: "a cursor of 70000 bytes; the limit is 65536")) {
            try page { writer in
                writer.key("cursor")
                writer.text(String(repeating: "c", count: 70_000))
            }
        }
    }

    @Test func `metadata that is too long is left out with a warning`() throws {
        let page = try page { writer in
            writer.key("metadata")
            writer.object {
                writer.key("long")
                writer.text(String(repeating: "x", count: 70_000))
            }
        }
        #expect(page.metadata == nil)
        #expect(page.warnings == ["the page's metadata of 70011 bytes is not kept"])
    }

    @Test(arguments: ["1,\"admin\":true", "01", "1.", "-", "1e", "NaN", ""])
    func `metadata with a decimal that is not a number is refused`(decimal: String) throws {
        #expect(throws: RecordBatchError.self) {
            try page { writer in
                writer.key("metadata")
                writer.object {
                    writer.key("n")
                    writer.decimal(decimal)
                }
            }
        }
    }

    @Test(arguments: ["0", "-1.50", "12e+3", "0.1E-2"])
    func `metadata with a decimal keeps its text`(decimal: String) throws {
        let page = try page { writer in
            writer.key("metadata")
            writer.object {
                writer.key("n")
                writer.decimal(decimal)
            }
        }
        #expect(page.metadata == "{\"n\":\(decimal)}")
    }

    @Test(arguments: [Int64.min, .max])
    func `metadata with a time far from now is refused`(microseconds: Int64) throws {
        #expect(throws: PluginRefusal.self) {
            try page { writer in
                writer.key("metadata")
                writer.object {
                    writer.key("t")
                    writer.timestamp(microseconds: microseconds)
                }
            }
        }
    }

    @Test func `what a child prints reaches the log up to the limit`() throws {
        let lines = LogLines()
        var pipes: [CInt] = [-1, -1]
        // A pair of sockets, whose end `shutdown` tells for all copies: a process that another test starts holds copies
        // of both until its `exec`.
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &pipes) == 0)
        var output = ChildOutput(
            pipes[0], log: BridgeLog(lines.logger, bridge: "b", redactor: Redactor(secrets: ["hunter22"])), limit: 40)
        _ = fcntl(pipes[0], F_SETFL, O_NONBLOCK)
        let text = "first hunter22\n\nsecond line of text \nthis one is too much\nand this\nunfinished"
        #expect(write(pipes[1], text, text.utf8.count) == text.utf8.count)
        output.read()
        let isOpen = output.isOpen
        #expect(shutdown(pipes[1], CInt(SHUT_WR)) == 0)
        close(pipes[1])
        output.read()
        let isStillOpen = output.isOpen
        #expect(isOpen)
        #expect(!isStillOpen)
        close(pipes[0])
        #expect(
            lines.all == [
                "debug bridge printed line=first ***", "debug bridge printed line=second line of text",
                "debug bridge printed line=(the bridge prints too much; the rest is dropped)",
            ])
        #expect(output.lastLine == "unfinished")
    }
}
