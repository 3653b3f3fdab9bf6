import RecordBatch
import Testing

/// What was shown to a person becomes a record again.
@Suite struct JSONParserTests {
    @Test(arguments: [
        "null", "true", "false", "0", "-7", "9223372036854775807", "9223372036854775808", "1.10", "-0", "1E+2", #""""#,
        #""a\"\\\n\r\t\u0000\u009fé😀""#, "[]", "{}", #"{"a":[1,{"b":null}],"":"x","a":2}"#,
    ])
    func `what a batch shows reads back`(_ text: String) throws {
        #expect(try JSONParser.batch(text).json(0) == text)
    }

    @Test func `escapes and white space are understood`() throws {
        let batch = try JSONParser.batch(" { \"\\u0061\\/\" :\r\n[ \"\\ud83d\\ude00\\b\\f\" , 1e400 ] }\t")
        #expect(batch.json(0) == "{\"a/\":[\"😀\\u0008\\u000c\",1e400]}")
        #expect(batch.count == 1)
    }

    @Test func `numbers keep their exact text`() throws {
        let batch = try JSONParser.batch("[12345678901234567890.12345678901234567890, 5]")
        withExtendedLifetime(batch) {
            #expect(batch[0][0].tag == .decimal && batch[0][0].string == "12345678901234567890.12345678901234567890")
            #expect(batch[0][1].tag == .int64)
        }
    }

    @Test(arguments: [
        "", " ", "nul", "01", "1.", "+1", ".5", "[1,]", "[1 2]", "{\"a\"}", "{\"a\":}", "{a:1}", "{\"a\":1,}", "\"a",
        "\"\n\"",
        "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "[]]", "1 2", "{\"a\":1}x", "<a/>",
        "64 KiB… (70000 bytes)",
    ])
    func `text that is not JSON is refused`(_ text: String) {
        #expect(throws: JSONParser.Fault.self) { try JSONParser.batch(text) }
    }

    @Test func `nesting has an end`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try JSONParser.batch(nested(120)).json(0) == nested(120))
        #expect(throws: JSONParser.Fault.self) { try JSONParser.batch(nested(100_000)) }
    }

    @Test func `a text is bounded by its own length`() throws {
        // Each value takes 16 bytes twice while the array ends: more than the usual limit of a batch.
        let batch = try JSONParser.batch("[" + String(repeating: "0,", count: 3_000_000) + "1]")
        #expect(batch[0].count == 3_000_001)
    }
}
