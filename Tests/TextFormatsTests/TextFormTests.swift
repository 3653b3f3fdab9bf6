import Testing
import TextFormats

@Suite struct TextFormTests {
    @Test func `bytes become two digits each`() {
        #expect(Hexadecimal.text([0, 15, 160, 255]) == "000fa0ff")
        #expect(Hexadecimal.text([]).isEmpty)
    }

    @Test(arguments: [
        ("plain", "plain"), ("a,b", "\"a,b\""), ("say \"yes\"", "\"say \"\"yes\"\"\""), ("a\nb", "\"a\nb\""), ("", ""),
        ("a,\u{301}", "\"a,\u{301}\""), ("\"\u{301}", "\"\"\"\u{301}\""),
    ])
    func `a field of CSV is quoted if it needs to be`(text: String, field: String) {
        #expect(text.csvField == field)
    }

    @Test func `a line of CSV with an empty field alone is not empty, because readers skip an empty line`() {
        #expect(["", ""].csvLine == ",")
        #expect(["a", "b,c"].csvLine == "a,\"b,c\"")
        #expect([""].csvLine == "\"\"")
    }

    @Test func `a UUID has one form, whichever a remote writes`() {
        let usual = "aaaaaaaa-1234-1234-1234-123456789abc"
        let bare = String(usual.filter { $0 != "-" })
        for text in [usual, usual.uppercased(), bare, "{\(usual)}", "urn:uuid:\(usual)"] {
            #expect(UUIDText.canonical(text) == usual)
        }
        for text in ["", String(usual.dropLast()), "g" + usual.dropFirst(), "a-" + bare.dropFirst()] {
            #expect(UUIDText.canonical(text) == nil)
        }
    }

    @Test(arguments: [
        ("plain", "plain"), ("say \"yes\" \\", #"say \"yes\" \\"#), ("a\nb\r\t", #"a\nb\r\t"#), ("", ""),
        ("\u{0}\u{1B}\u{7F}", #"\u0000\u001b\u007f"#), ("\u{80}\u{9F}", #"\u0080\u009f"#),
        ("\u{A0}£é€😀", "\u{A0}£é€😀"),
    ])
    func `a string of JSON has escapes for marks and controls`(text: String, string: String) {
        #expect(text.jsonQuoted == "\"\(string)\"")
        #expect("from \(text)".jsonQuoted == "\"from \(string)\"")
    }

    @Test func `a time reads back from its own text only`() {
        for time in [0, -1, 1_795_477_800_123_456, Timestamp.range.lowerBound, Timestamp.range.upperBound] as [Int64] {
            #expect(Timestamp.microseconds(Timestamp.text(microseconds: time)) == time)
        }
        let others = [
            "2026-11-21T07:08:08Z", "2026-11-21 07:08:08.000000Z", "2026-11-21T07:08:08.0000+01",
            "2026-02-29T00:00:00.000000Z", "2026-11-20T24:00:00.000000Z", "2026-11-21T07:08:60.000000Z",
            "2026-11-21T07:08:08,000000Z",
        ]
        #expect(others.compactMap(Timestamp.microseconds) == [])
    }

    @Test func `text of XML has references for marks`() {
        #expect(XMLText.escaped("<a b=\"1\">&'\r\n") == "&lt;a b=&quot;1&quot;&gt;&amp;'&#13;\n")
        #expect(XMLText.escaped("a\n\tb\r\n\"", isAttribute: true) == "a&#10;&#9;b&#13;&#10;&quot;")
    }

    @Test func `a time before 1970 keeps its second`() {
        #expect(Timestamp.text(microseconds: -1, pattern: "%Y-%m-%dT%H:%M:%S") == "1969-12-31T23:59:59")
        #expect(Timestamp.text(microseconds: 0, pattern: String(repeating: "%Y", count: 300)).isEmpty)
    }

    @Test func `percent-encoded bytes need not be UTF-8`() {
        #expect(PercentEncoding.bytes("%FFa%zz+") == [0xFF] + Array("a%zz+".utf8))
        #expect(PercentEncoding.decoded("%FF") == "\u{FFFD}")
    }

    @Test func `controls and marks of direction could disguise a value`() {
        let disguising = "\u{1B}\u{85}\u{202E}\u{2066}\n".unicodeScalars.map(\.isDisguising)
        #expect(disguising == [true, true, true, true, true])
        let plain = "aé€ ".unicodeScalars.map(\.isDisguising)
        #expect(plain == [false, false, false, false])
        #expect(Unicode.Scalar(0x202E)?.escape == "\\u{202e}")
    }
}
