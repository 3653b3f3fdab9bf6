import Digests
import Model
import Testing
import TextFormats
import WebPage
import WebServer

/// The signatures of webhooks.
@Suite struct HookSignatureTests {
    private static let secret = "correct horse battery"
    private static let body = #"{"key": "NO"}"#
    private static let now: Int64 = 1_800_000_000

    private static func code(_ text: String, _ secret: String = secret) -> String {
        Hexadecimal.text(MessageAuthentication.code(of: Array(text.utf8), secret: Array(secret.utf8)))
    }

    private static func request(_ headers: [(name: String, value: String)], body: String = body) throws -> WebRequest {
        try #require(
            WebRequest(method: "POST", target: "/hooks/Country", headers: headers, body: Array(body.utf8)))
    }

    private static func hook(timestamp: String? = nil) -> HookSignature {
        HookSignature(
            HookConfiguration(secret: .env("S"), signature: "X-Signature", timestamp: timestamp), secret: secret)
    }

    /// RFC 4231, test cases 1 and 2.
    @Test(arguments: [
        (
            String(repeating: "\u{0B}", count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            "Jefe", "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
    ]) func `the code is that of RFC 4231`(secret: String, message: String, code: String) {
        #expect(Self.code(message, secret) == code)
    }

    @Test func `a long secret is hashed first`() {
        // RFC 4231, test case 6.
        let secret = Array(repeating: UInt8(0xAA), count: 131)
        let code = MessageAuthentication.code(
            of: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8), secret: secret)
        #expect(Hexadecimal.text(code) == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }

    @Test func `a field with the time and several codes is checked, as Stripe sends it`() throws {
        func verdict(_ field: String, timestamp: String? = nil, body: String? = nil) throws -> String {
            let verdict = Self.hook(timestamp: timestamp).verdict(
                on: try Self.request([("X-Signature", field)], body: body ?? Self.body), now: Self.now)
            guard case .valid(let proof) = verdict else { return "\(verdict)" }
            return "valid \(proof.code) \(proof.sent ?? 0)"
        }
        let sent = Self.now - 10
        let code = Self.code("\(sent).\(Self.body)")
        let other = Self.code("\(sent).\(Self.body)", "an earlier secret, still in use")
        let valid = "valid \(code) \(sent)"
        #expect(try verdict("t=\(sent),v1=\(code)") == valid)
        #expect(try verdict("t=\(sent),v1=\(other),v1=\(code),v0=00") == valid)
        #expect(try verdict("t=\(sent),v1=\(code)", timestamp: "X-Time") == valid, "the field has the time")
        #expect(try verdict("t=\(sent + 1),v1=\(code)") == "wrong")
        #expect(try verdict("t=\(sent),v1=\(other)") == "wrong")
        #expect(try verdict("t=\(sent),v1=\(code)", body: "{}") == "wrong")
        #expect(try verdict("t=\(sent),v0=\(code)") == "wrong")
        #expect(try verdict("t=\(sent)") == "wrong")
        let late = Self.now - 301
        #expect(try verdict("t=\(late),v1=\(Self.code("\(late).\(Self.body)"))") == "late")
        #expect(try verdict("t=soon,v1=\(Self.code("soon.\(Self.body)"))") == "noTime")
    }

    @Test func `a time that was moved from the field into the body is not accepted`() throws {
        for time in ["\(Self.now)", "\(Self.now - 86_400)", "\(Self.now)000", "2026-01-01T00:00:00Z"] {
            let body = "\(time).\(Self.body)"
            let request = try Self.request([("X-Signature", "v1=\(Self.code(body))")], body: body)
            #expect(Self.hook().verdict(on: request, now: Self.now) == .timeInBody, "\(time)")
            let other = try Self.request([("X-Signature", "v1=\(Self.code(Self.body))")], body: body)
            #expect(Self.hook().verdict(on: other, now: Self.now) == .wrong, "\(time)")
        }
        let list = "\(Self.now).[]"
        let request = try Self.request([("X-Signature", Self.code(list))], body: list)
        #expect(Self.hook().verdict(on: request, now: Self.now) == .timeInBody)
        let bodies = [
            "", "{\"a\": 1.5}", "[1.5]", ".{}", "id=1.5", "12", "a.b", "3.14", "21.5,17", "1767225600.5", "5.{}",
            "2026-01-01T00:00:00.000Z,on",
        ]
        for body in bodies {
            let code = Self.code(body)
            let request = try Self.request([("X-Signature", code)], body: body)
            guard case .valid(let proof) = Self.hook().verdict(on: request, now: Self.now) else {
                Issue.record("\(body)")
                continue
            }
            #expect(proof.code == code && proof.sent == nil)
        }
    }

    @Test func `the signature is that of the body, in any of the usual forms`() throws {
        let code = Self.code(Self.body)
        let bytes = MessageAuthentication.code(of: Array(Self.body.utf8), secret: Array(Self.secret.utf8))
        let base64 = bytes.withUnsafeBytes { Base64.encode($0) }
        for field in [code, "sha256=\(code)", "SHA256=\(code.uppercased())", "v1=\(code)", base64, "v1,\(base64)"] {
            let verdict = Self.hook().verdict(on: try Self.request([("X-Signature", field)]), now: Self.now)
            guard case .valid(let proof) = verdict else {
                Issue.record("\(field): \(verdict)")
                continue
            }
            #expect(proof.code == code && proof.sent == nil)
        }
    }

    @Test func `any other signature is wrong`() throws {
        let code = Self.code(Self.body)
        let others = [
            "", "sha256=", String(code.dropLast()), code + "0", String(code.reversed()), "sha1=\(code)",
            "sha256=sha256=\(code)",
            Self.code(Self.body + " "), Self.code(Self.body, Self.secret + "x"), String(repeating: "0", count: 64),
            String(repeating: "A", count: 100_000),
        ]
        for field in others {
            let verdict = Self.hook().verdict(on: try Self.request([("X-Signature", field)]), now: Self.now)
            #expect(verdict == .wrong, "\(field.prefix(80))")
        }
        #expect(Self.hook().verdict(on: try Self.request([]), now: Self.now) == .missing)
        let twice = try Self.request([("X-Signature", "x"), ("X-Signature", code)])
        #expect(Self.hook().verdict(on: twice, now: Self.now) == .missing, "which of two counts is not guessed")
    }

    @Test func `a time is covered by the signature and close to now`() throws {
        let hook = Self.hook(timestamp: "X-Time")
        func verdict(_ time: String, signed: String? = nil) throws -> HookSignature.Verdict {
            let code = Self.code("\(signed ?? time).\(Self.body)")
            return hook.verdict(on: try Self.request([("X-Signature", code), ("X-Time", time)]), now: Self.now)
        }
        for time in ["1800000000", "1799999700", "1800000300", "2027-01-15T08:00:00Z", "2027-01-15T09:00:00+01:00"] {
            guard case .valid(let proof) = try verdict(time) else {
                Issue.record("\(time)")
                continue
            }
            #expect(abs((proof.sent ?? 0) - Self.now) <= 300)
        }
        for time in ["1799999699", "1800000301", "0", "-5", "99999999999", "2020-01-01T00:00:00Z"] {
            #expect(try verdict(time) == .late, "\(time)")
        }
        for time in ["", "now", "1e9", "999999999999999999999", "1800000000000"] {
            #expect(try verdict(time) == .noTime, "\(time)")
        }
        #expect(try verdict("1800000000", signed: "1799999999") == .wrong)
        let plain = try Self.request([("X-Signature", Self.code(Self.body))])
        #expect(hook.verdict(on: plain, now: Self.now) == .missing, "a signature without the time is not enough")
    }

    @Test func `a signature is accepted once while its time is`() {
        var seen = SeenSignatures()
        #expect(seen.add("a", sent: 100, now: 100) == .new)
        #expect(seen.add("a", sent: 100, now: 399) == .known)
        #expect(seen.add("b", sent: 100, now: 399) == .new)
        for number in 0..<9_998 { #expect(seen.add("\(number)", sent: 300, now: 399) == .new) }
        #expect(seen.add("c", sent: 399, now: 399) == .full)
        #expect(seen.add("c", sent: 700, now: 700) == .new, "those whose times are over make room")
    }
}
