import Testing
import TextFormats

@Suite struct SecretFinderTests {
    static let secret = "Ab1/cd&ef<gh>ij\"k\\lé😀%m"

    private func redact(_ text: String, _ secret: String = secret) -> String {
        SecretFinder([(secret, "***")]).replacing(in: text)
    }

    @Test(arguments: [
        "Ab1/cd&ef<gh>ij\"k\\lé😀%m",
        // Swift, Go, PHP, Python, .NET, in either case.
        #"Ab1/cd&ef<gh>ij\"k\\lé😀%m"#,
        #"Ab1/cd\u0026ef\u003cgh\u003eij\"k\\lé😀%m"#,
        #"Ab1/cd\u0026ef\u003Cgh\u003Eij\u0022k\u005Cl\u00E9\uD83D\uDE00%m"#,
        #"Ab1\/cd&ef<gh>ij\"k\\l\u00e9\ud83d\ude00%m"#,
        #"\u0041b1\u002Fcd&ef<gh>ij\"k\\lé😀%m"#,
        // XML, with numbers in either base.
        #"Ab1/cd&amp;ef&lt;gh&gt;ij&quot;k\l&#233;&#x1F600;%m"#,
        #"Ab1/cd&#38;ef&#x3c;gh&#x3E;ij&#34;k\lé😀%m"#,
        // URLs: all, without the slash, in lower case.
        "Ab1%2Fcd%26ef%3Cgh%3Eij%22k%5Cl%C3%A9%F0%9F%98%80%25m",
        "Ab1/cd%26ef%3Cgh%3Eij%22k%5Cl%C3%A9%F0%9F%98%80%25m",
        "%41b1%2fcd%26ef%3cgh%3eij%22k%5cl%c3%a9%f0%9f%98%80%25m",
        // A URL inside a URL, JSON inside JSON, digits.
        "Ab1%252Fcd%2526ef%253Cgh%253Eij%2522k%255Cl%25C3%25A9%25F0%259F%2598%2580%2525m",
        #"Ab1\\/cd\\u0026ef<gh>ij\\\"k\\\\l\\u00e9😀%m"#,
        "4162312f63642665663c67683e696a226b5c6cc3a9f09f9880256d",
        "4162312F63642665663C67683E696A226B5C6CC3A9F09F9880256D",
    ])
    func `a secret is found as every format spells it`(spelled: String) {
        #expect(redact("a \(spelled), \(spelled)") == "a ***, ***")
    }

    @Test func `secrets that are added later are found like those before, the longest first`() {
        var finder = SecretFinder([("abc-def", "1")])
        finder.add("abc-def-ghi", mark: "2")
        finder.add("abc", mark: "3")
        finder.add("abc-def", mark: "4")
        finder.add(" x", mark: "5")
        #expect(finder.replacing(in: "abc-def abc-def-ghi (abc)+x") == "1 2 (3)5")
    }

    @Test(arguments: ["", "u", "us", "user:"])
    func `a secret is found in base64 at every offset, also where the base64 is escaped`(before: String) {
        let secret = "~~~???>>>~~~"
        let text = Array((before + secret).utf8).withUnsafeBytes { Base64.encode($0) }
        for spelled in [
            text, text.replacing("/", with: #"\/"#), text.replacing("/", with: "%2f").replacing("+", with: "%2B"),
            text.replacing("/", with: "_").replacing("+", with: "-"),
        ] {
            let redacted = redact(spelled, secret)
            #expect(redacted.contains("***") && redacted.utf8.count < before.utf8.count + 13, "\(redacted)")
        }
    }

    @Test(arguments: [#"a\\bc"#, "a\\bc", "a%5cbc"])
    func `a backslash of the secret is not an escape`(spelled: String) {
        #expect(redact("x\(spelled)x", "a\\bc") == "x***x")
    }

    @Test func `text that is not a secret stays`() {
        let text = #"Ab1/cd&ef \u0041 &amp; % %4 \ \u00 &#; &#xZ; + "#
        #expect(redact(text) == text)
    }

    @Test func `a long text of beginnings takes no longer than another`() {
        let secret = String(repeating: "a", count: 30) + "b"
        let text = String(repeating: "a", count: 200_000)
        #expect(redact(text, secret) == text)
    }

    @Test func `an escaped text is read`() { #expect(SecretFinder.unescaped(#"a\/b\u0026&lt;c\"#) == #"a/b&<c\"#) }
}
