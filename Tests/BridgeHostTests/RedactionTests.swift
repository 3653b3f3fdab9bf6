import BridgeTestSupport
import RecordBatch
import TestSupport
import Testing
import TextFormats

@testable import BridgeHost

@Suite struct RedactionTests {
    @Test(arguments: [
        ("plain hunter2!x end", "plain *** end"),
        ("url ?k=hunter2%21x&b", "url ?k=***&b"),
        ("lower ?k=%68unter2%21x", "lower ?k=***"),
        ("alone aHVudGVyMiF4", "alone ***"),
        ("partial hunter2", "partial hunter2"),
    ])
    func `a secret is found in its forms`(text: String, expected: String) {
        #expect(Redactor(secrets: ["hunter2!x"]).redact(text) == expected)
    }

    @Test(arguments: ["u:", "us:", "use:", "user:"])
    func `a secret is found inside base 64`(user: String) {
        let header = Array("\(user)correct horse".utf8).withUnsafeBytes { Base64.encode($0) }
        let redacted = Redactor(secrets: ["correct horse"]).redact("Authorization: Basic \(header)")
        #expect(redacted.contains("***"))
        #expect(redacted.count < "Authorization: Basic ".count + 14)
    }

    @Test func `a space may be a plus`() {
        #expect(Redactor(secrets: ["correct horse"]).redact("p=correct+horse") == "p=***")
    }

    @Test func `a secret is found escaped for JSON and XML`() {
        let redactor = Redactor(secrets: ["a\"b<c&d"])
        #expect(redactor.redact(#"{"key":"a\"b<c&d"}"#) == #"{"key":"***"}"#)
        #expect(redactor.redact("<key>a&quot;b&lt;c&amp;d</key>") == "<key>***</key>")
    }

    @Test func `a short secret is replaced only as a word`() {
        #expect(Redactor(secrets: ["ab"]).redact("cab ab, abc (ab)") == "cab ***, abc (***)")
    }

    @Test func `an empty secret hides nothing`() {
        #expect(Redactor(secrets: [""]).redact("text") == "text")
    }

    @Test(arguments: BridgeConnectionTests.isolations)
    func `no text of a bridge shows a secret`(isolation: PluginListing.Isolation) async throws {
        let secret = "s3cr\"t-token"
        let host = try CountingHost {
            $0.retries.tries = 1
            $0.allowsPrinting = true
        }
        let connection = try await host.connect(isolation, options: ["secret": .text(secret)], secrets: [secret])
        let stream = try await connection.fetch(try request(["fail_at": 8, "print_at": 1]))
        let page = try #require(try await stream.next()).page
        #expect(page.location == "counting:/numbers?key=***")
        #expect(page.warnings == ["the key *** expires"])
        #expect(page.metadata == #"{"key":"***"}"#)
        let failure = try await failure { _ = try await ids(stream) }
        #expect(failure.description == "numbers: unreachable: asked to fail at 8 with *** (counting:/numbers)")
        try await eventually("the message is logged") {
            host.lines.all.contains("warning bridge message message=logged in with ***")
        }
        if isolation == .childProcess {
            try await eventually("the line is logged") {
                host.lines.all.contains("debug bridge printed line=noise on standard error ***")
            }
            let crash = try await BridgeHostTests.failure {
                _ = try await ids(connection.fetch(try request(["crash_at": 0])))
            }
            #expect(crash.message.hasSuffix("its last output: about to abort at 0 ***"))
        }
        #expect(!host.lines.all.contains { $0.contains("s3cr") })
        await connection.close()
    }

    @Test func `control characters do not forge lines`() {
        let failure = BridgeFailure(.remote, "one\ntwo\u{1B}[31m", bridge: "b")
        #expect(failure.description == "b: remote: one two [31m")
    }
}
