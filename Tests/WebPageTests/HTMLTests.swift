import Testing
import WebPage

@Suite struct HTMLTests {
    private func text(_ html: HTML) -> String { String(decoding: html.bytes, as: UTF8.self) }

    @Test func `text is escaped in content and in attributes`() {
        let hostile = #"</b><script>alert("1")</script>&'"#
        let escaped = "&lt;/b&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;"
        #expect(text(HTML("b", .title(hostile)) { hostile }) == "<b title=\"\(escaped)\">\(escaped)</b>")
        #expect(text(HTML(void: "input", .value(hostile), .checked)) == "<input value=\"\(escaped)\" checked>")
    }

    @Test(arguments: ["\u{0}", "\u{1B}", "\u{85}", "\u{202E}", "\u{2066}", "\r"])
    func `characters that disguise a text are shown`(character: String) throws {
        let number = String(try #require(character.unicodeScalars.first).value, radix: 16)
        #expect(!HTML.isShownAsIs("a\(character)"))
        #expect(text(HTML(text: "a\(character)b")) == "a\\u{\(number)}b")
    }

    @Test func `other characters stay`() {
        #expect(text(HTML(text: "Ålesund 東京 🏔\n\t")) == "Ålesund 東京 🏔\n\t")
    }

    @Test func `blocks join texts, elements, loops and conditions`() {
        let isShown = false
        let html = HTML("p") {
            "a"
            for number in 1...2 { HTML("i") { String(number) } }
            if isShown { "hidden" }
            String?.none
        }
        #expect(text(html) == "<p>a<i>1</i><i>2</i></p>")
    }
}

@Suite struct LinkTests {
    @Test func `parts and queries are encoded, so that they stay data`() {
        #expect(WebLink("object", "City", "a/b?c#d e").text == "/object/City/a%2Fb%3Fc%23d%20e")
        #expect(WebLink("object", "City", "..", "").text == "/object/City/=../=")
        #expect(WebLink(["a"], query: [("where", "name=\"&x")], fragment: "y").text == "/a?where=name%3D%22%26x#y")
        #expect(WebLink().text == "/")
    }

    @Test(arguments: ["https://a.example/b", "HTTP://a.example", "mailto:a@b.example"])
    func `addresses of the web are links`(address: String) { #expect(WebLink(remote: address)?.text == address) }

    @Test(
        arguments: [
            "javascript:alert(1)", "JavaScript://x", " https://a.example", "data:text/html,x", "file:///etc/passwd",
            "//a.example", "java\nscript:alert(1)", "https://a.example/\nb", "vbscript:x", "",
        ])
    func `other addresses are not`(address: String) { #expect(WebLink(remote: address) == nil) }
}
