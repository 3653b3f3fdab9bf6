import Foundation
import Testing
import TextFormats

@Suite struct SecretFragmentsTests {
    private static let secret = "canary-8Kd2Wq5Zx7Lm3Pt"
    private let finder = SecretFinder([(secret, "***")])

    private func mask(_ text: String) -> String { SecretFinder.masking(text, [finder]) }

    @Test(arguments: [
        (#"... "canary-8Kd2W"q5Zx7Lm3Pt"}]} ..."#, #"... "***"***"}]} ..."#),
        ("ry-8Kd2Wq5Zx7Lm3Pt and more", "*** and more"),
        ("%38%4B%64%32%57%71%35%5A%78%37", "***"),
        ("%2538%254B%2564%2532%2557%2571%2535%255A", "***"),
        (#"\u0038\u004b\u0064\u0032\u0057\u0071\u0035\u005a!"#, "***!"),
        ("the whole canary-8Kd2Wq5Zx7Lm3Pt of it", "the whole *** of it"),
    ])
    func `a piece of a secret is masked however it is spelled`(text: String, masked: String) {
        #expect(mask(text) == masked)
    }

    @Test func `a piece of the base64 of a secret is masked`() {
        let base64 = Data("user:\(Self.secret)".utf8).base64EncodedString()
        #expect(mask("[" + base64.dropFirst(12).prefix(14) + "]") == "[***]")
    }

    @Test(arguments: ["canary", "8Kd2Wq5", "canaries sing", "2026-11-22T10:00:00Z"])
    func `fewer than eight bytes of a secret, words and times stay`(text: String) {
        #expect(mask(text) == text)
        let plain = SecretFinder([("passwords-of-2026-11-22T10:00:00Z", "***")])
        #expect(SecretFinder.masking("two passwords", [plain]) == "two passwords")
        #expect(SecretFinder.masking("at 2026-11-22", [plain]) == "at 2026-11-22")
    }

    @Test func `pieces are found at every place of a long text`() {
        for before in [65_530, 65_536, 65_536 + 127, 131_060] {
            let text = String(repeating: "x", count: before) + "8Kd2Wq5Zx7" + String(repeating: "y", count: 300)
            #expect(mask(text) == text.replacing("8Kd2Wq5Zx7", with: "***"))
        }
    }

    @Test func `a cut leaves no piece`() {
        let bytes = Array("before \(Self.secret) after".utf8)
        #expect(SecretFinder.excerpt(of: bytes, 0..<15, [finder]) == "before ***")
        #expect(SecretFinder.excerpt(of: bytes, 27..<bytes.count, [finder]) == "*** after")
    }
}
