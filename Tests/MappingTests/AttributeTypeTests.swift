import ImportTestSupport
import Mapping
import Model
import Testing
import TestSupport

/// What each type takes, makes of it, and refuses.
@Suite struct AttributeTypeTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let remote: Literal
        let expected: String
        var testDescription: String { "\(remote) is \(expected)" }

        init(_ remote: Literal, _ expected: String) {
            self.remote = remote
            self.expected = expected
        }
    }

    @Test(arguments: [
        Case("Aruba", "'Aruba'"), Case("", "''"), Case("a\u{0}b", "'a\\u{0}b'"), Case("e\u{301}", "'e\\u{301}'"),
        Case("👩‍👩‍👧", "'👩‍👩‍👧'"), Case(7, "'7'"), Case(true, "'true'"), Case(1.5, "'1.5'"),
        Case(.decimal("0.10"), "'0.10'"), Case(.timestamp(microseconds: 0), "'1970-01-01T00:00:00.000000Z'"),
        Case(.double(.infinity), "'INF'"), Case(.double(-.infinity), "'-INF'"), Case(.double(.nan), "'NaN'"),
        Case(nil, "null"), Case(["a": 1], "! the object {\"a\":1} is not a text"),
        Case([1, 2], "! the array [1,2] is not a text"), Case(.bytes([1]), "! a value of 1 bytes is not a text"),
    ])
    func `a text is any scalar`(_ example: Case) throws {
        #expect(try local(example.remote, as: .text) == example.expected)
    }

    @Test(arguments: [
        Case(.integer(.max), "9223372036854775807"), Case(.integer(.min), "-9223372036854775808"),
        Case(.decimal("9223372036854775807"), "9223372036854775807"),
        Case(.decimal("9223372036854775808"), "! the number 9223372036854775808 is not an integer of 64 bits"),
        Case("9223372036854775808", "! the text \"9223372036854775808\" is not an integer of 64 bits"),
        Case(.double(9_223_372_036_854_775_808), "! the number 9.223372036854776e+18 is not an integer of 64 bits"),
        Case(.decimal("1e3"), "1000"), Case(.double(1e3), "1000"), Case(12.0, "12"), Case("12.0", "12"),
        Case("007", "7"), Case("-0", "0"), Case("+5", "5"), Case(.decimal("1200e-2"), "12"),
        Case(12.5, "! the number 12.5 is not an integer of 64 bits"),
        Case("12,5", "! the text \"12,5\" is not an integer of 64 bits"),
        Case("", "! the text \"\" is not an integer of 64 bits"),
        Case(" 1", "! the text \" 1\" is not an integer of 64 bits"),
        Case("1\u{0}", "! the text \"1\\u0000\" is not an integer of 64 bits"),
        Case("١", "! the text \"١\" is not an integer of 64 bits"),
        Case(true, "! the boolean true is not an integer of 64 bits"),
        Case(.double(.nan), "! the number NaN is not an integer of 64 bits"),
        Case("1e-9223372036854775808", "! the text \"1e-9223372036854775808\" is not an integer of 64 bits"),
        Case(nil, "null"),
    ])
    func `an integer has 64 bits and no decimals`(_ example: Case) throws {
        #expect(try local(example.remote, as: .integer) == example.expected)
    }

    @Test(arguments: [
        Case(1.5, "1.5"), Case(2, "2.0"), Case("1e5", "100000.0"), Case("+.5", "0.5"), Case("5.", "5.0"),
        Case(.decimal("0.1"), "0.1"), Case(.double(-0.0), "-0.0"), Case(.double(.leastNonzeroMagnitude), "5e-324"),
        Case("1e400", "! the text \"1e400\" is not a finite real number"),
        Case("0x10", "! the text \"0x10\" is not a finite real number"),
        Case("nan", "! the text \"nan\" is not a finite real number"),
        Case("infinity", "! the text \"infinity\" is not a finite real number"),
        Case(.double(.nan), "! the number NaN is not a finite real number"),
        Case(.double(.infinity), "! the number INF is not a finite real number"),
        Case(.double(-.infinity), "! the number -INF is not a finite real number"),
        Case(false, "! the boolean false is not a finite real number"), Case(nil, "null"),
    ])
    func `a real is finite`(_ example: Case) throws {
        #expect(try local(example.remote, as: .real) == example.expected)
    }

    @Test func `a real is the double nearest to its digits`() throws {
        var texts = [
            "0", "-0", "-0.0", "0.000000000000001", "999999999999999", "9999999999999999", "9007199254740993.5",
        ]
        texts += ["123456789012345.6", "-12345678901234.5", "0.1e1", "1E-3", "5e-324", "1.7976931348623157e308"]
        for _ in 0..<2000 {
            let digits = String(Int64.random(in: 0..<Int64(1) << Int64.random(in: 1...62)))
            let point = Int.random(in: 1...digits.count)
            let sign = Bool.random() ? "-" : ""
            let decimals = digits.dropFirst(point)
            texts.append("\(sign)\(digits.prefix(point))\(decimals.isEmpty ? "" : ".\(decimals)")")
            texts.append("\(sign)0.\(digits)")
        }
        for text in texts {
            let expected = try #require(Double(text))
            #expect(try local(.decimal(text), as: .real) == "\(expected)", "\(text)")
        }
    }

    @Test(arguments: [
        Case(true, "1"), Case(false, "0"), Case(1, "1"), Case(0, "0"), Case("true", "1"), Case("FALSE", "0"),
        Case("1", "1"), Case("0", "0"), Case(2, "! the number 2 is not a boolean (true, false, 1, 0)"),
        Case("yes", "! the text \"yes\" is not a boolean (true, false, 1, 0)"),
        Case("", "! the text \"\" is not a boolean (true, false, 1, 0)"),
        Case(1.0, "! the number 1.0 is not a boolean (true, false, 1, 0)"), Case(nil, "null"),
    ])
    func `a boolean is true or false`(_ example: Case) throws {
        #expect(try local(example.remote, as: .boolean) == example.expected)
    }

    static let thirtyDigits = "123456789012345678901234567.890"

    @Test(arguments: [
        Case("0.10", "'0.10'"), Case(.decimal("0.10"), "'0.10'"), Case(.decimal(thirtyDigits), "'\(thirtyDigits)'"),
        Case(.text("-\(thirtyDigits)"), "'-\(thirtyDigits)'"), Case(7, "'7'"), Case(0.1, "'0.1'"),
        Case(1e22, "'10000000000000000000000'"), Case("1e-3", "'0.001'"), Case("1.50e1", "'15'"), Case("+1", "'1'"),
        Case("-0.0", "'0.0'"), Case("0010", "'10'"), Case(".5", "'0.5'"), Case("5.", "'5'"), Case("0e5", "'0'"),
        Case("1e1001", "! the text \"1e1001\" is not a decimal number of at most 1000 digits"),
        Case(
            "1e9223372036854775807",
            "! the text \"1e9223372036854775807\" is not a decimal number of at most 1000 digits"),
        Case(
            "1e-9223372036854775808",
            "! the text \"1e-9223372036854775808\" is not a decimal number of at most 1000 digits"),
        Case("1e", "! the text \"1e\" is not a decimal number of at most 1000 digits"),
        Case("1,5", "! the text \"1,5\" is not a decimal number of at most 1000 digits"),
        Case(".", "! the text \".\" is not a decimal number of at most 1000 digits"),
        Case("-", "! the text \"-\" is not a decimal number of at most 1000 digits"),
        Case(.double(.infinity), "! the number INF is not a decimal number of at most 1000 digits"),
        Case(true, "! the boolean true is not a decimal number of at most 1000 digits"), Case(nil, "null"),
    ])
    func `a decimal keeps every digit`(_ example: Case) throws {
        #expect(try local(example.remote, as: .decimal) == example.expected)
    }

    @Test(arguments: [
        Case(.bytes([0, 255]), "x'00ff'"), Case(.bytes([]), "x''"), Case("AP8=", "x'00ff'"), Case("AP8", "x'00ff'"),
        Case("-_8=", "x'fbff'"), Case("A P\r\n8=", "x'00ff'"), Case("", "x''"),
        Case("A", "! the text \"A\" is not data (bytes or base64)"),
        Case("A*==", "! the text \"A*==\" is not data (bytes or base64)"),
        Case("=AP8", "! the text \"=AP8\" is not data (bytes or base64)"),
        Case(7, "! the number 7 is not data (bytes or base64)"), Case(nil, "null"),
    ])
    func `data is bytes or base 64`(_ example: Case) throws {
        #expect(try local(example.remote, as: .data) == example.expected)
    }

    @Test(arguments: [
        Case(["b": 1, "a": [true, nil, 1.5]], "'{\"b\":1,\"a\":[true,null,1.5]}'"), Case([], "'[]'"),
        Case([:], "'{}'"), Case("a\"b\\\n\u{1}", "'\"a\\\"b\\\\\\n\\u0001\"'"), Case(7, "'7'"),
        Case(.decimal("0.10"), "'0.10'"), Case(.bytes([0, 255]), "'\"AP8=\"'"),
        Case(.double(.nan), "'\"NaN\"'"), Case([.double(-.infinity)], "'[\"-INF\"]'"), Case(nil, "null"),
    ])
    func `json is kept as it is`(_ example: Case) throws {
        #expect(try local(example.remote, as: .json) == example.expected)
    }

    @Test(arguments: [
        Case("https://example.org/ä?q=1#f", "'https://example.org/ä?q=1#f'"), Case("urn:isbn:1", "'urn:isbn:1'"),
        Case("mailto:a@b", "'mailto:a@b'"), Case("x-y+z.1:", "'x-y+z.1:'"),
        Case("/relative", "! the text \"/relative\" is not an absolute URL"),
        Case("example.org", "! the text \"example.org\" is not an absolute URL"),
        Case("1http://x", "! the text \"1http://x\" is not an absolute URL"),
        Case("http://a b", "! the text \"http://a b\" is not an absolute URL"),
        Case("http://a\n", "! the text \"http://a\\n\" is not an absolute URL"),
        Case("", "! the text \"\" is not an absolute URL"), Case(7, "! the number 7 is not an absolute URL"),
        Case(nil, "null"),
    ])
    func `a URL is absolute`(_ example: Case) throws {
        #expect(try local(example.remote, as: .url) == example.expected)
    }

    static let uuid = "'0193d4a1-7c2b-7def-8123-456789abcdef'"

    @Test(arguments: [
        Case("0193d4a1-7c2b-7def-8123-456789abcdef", uuid), Case("0193D4A1-7C2B-7DEF-8123-456789ABCDEF", uuid),
        Case("0193d4a17c2b7def8123456789abcdef", uuid), Case("{0193d4a1-7c2b-7def-8123-456789abcdef}", uuid),
        Case("urn:uuid:0193d4a1-7c2b-7def-8123-456789abcdef", uuid),
        Case("URN:UUID:0193D4A1-7C2B-7DEF-8123-456789ABCDEF", uuid),
        Case("0193d4a1-7c2b7def-8123-456789abcdef", "! the text \"0193d4a1-7c2b7def-8123-456789abcdef\" is not a UUID"),
        Case("0193d4a1", "! the text \"0193d4a1\" is not a UUID"), Case("", "! the text \"\" is not a UUID"),
        Case("g193d4a17c2b7def8123456789abcdef", "! the text \"g193d4a17c2b7def8123456789abcdef\" is not a UUID"),
        Case(7, "! the number 7 is not a UUID"), Case(nil, "null"),
    ])
    func `a UUID has one form`(_ example: Case) throws {
        #expect(try local(example.remote, as: .uuid) == example.expected)
    }

    @Test func `a long value is cut in its message`() throws {
        let long = String(repeating: "x", count: 10_000)
        let message = try local(.text(long), as: .integer)
        #expect(message == "! the text \"" + String(repeating: "x", count: 79) + "… is not an integer of 64 bits")
    }
}

/// The usual forms of values take a shorter way than the others: it must lead to the same place.
@Suite struct FastPathConverterTests {
    private static let values: [Literal] = [
        nil, true, false, 0, 1, -7, .integer(.max), .integer(.min), 1.5, .double(-0.0), .double(.nan),
        .double(.infinity),
        1e300,
        .decimal("0"), .decimal("-0"), .decimal("0.10"), .decimal("-0.0"), .decimal("1e3"), .decimal("1E+400"),
        .decimal("12345678901234567890.123456789012345678901234567890"),
        .decimal("1" + String(repeating: "0", count: 70)),
        .decimal(String(repeating: "9", count: 1000)), .decimal(String(repeating: "9", count: 1001)),
        .decimal("0." + String(repeating: "1", count: 999)), "", "a", "1", "1.5", "true", "2024-02-29", "2023-02-29",
        "0000-01-01", "2024-02-29 ", "2024-02-29T00:00:00Z", "2024-02-29T12:34:56.5Z", "2024-02-29T12:34:56.123456Z",
        "2024-02-29T12:34:56.1234567Z", "2024-02-29T12:34:56.Z", "2024-02-29T23:59:60Z", "2024-02-29T24:00:00Z",
        "2024-02-29T12:34:56+00:00", "2024-02-29T12:34:5xZ", "2024-02-29t12:34:56Z", "9999-12-31T23:59:59.999999Z",
        "9999-12-31T24:00:00Z", "0001-01-01T00:00:00Z", "1969-12-31T23:59:59.000001Z", .timestamp(microseconds: 0),
        .timestamp(microseconds: -1), .timestamp(microseconds: -62_135_596_800_000_000),
        .timestamp(microseconds: 253_402_300_799_999_999), .bytes([0]), [], [:], "https://x", "AP8=",
        // Numbers as texts.
        "0", "-0", "-7", "+7", "007", "-", "--7", "7-", "7 ", " 7", "٧", "0.10", "-0.0", "-0.50", "00.5", "01", ".5",
        "5.",
        ".", "-.", "-.5", "1.2.3", "1,5", "1e3", "-1E-3", "nan", "inf", "0x10", "999999999999999999",
        "-999999999999999999", "1000000000000000000", "9223372036854775807", "-9223372036854775808",
        "9223372036854775808", "0.1234567890123456", "123456789012345", "1234567890123456", "12345678901234567.25",
        .text(String(repeating: "9", count: 999)), .text(String(repeating: "9", count: 1000)),
        .text(String(repeating: "9", count: 1001)), .text("0." + String(repeating: "1", count: 998)),
        .text("0." + String(repeating: "1", count: 1000)),
    ]

    @Test(arguments: AttributeType.allCases)
    func `the short way leads where the long one does`(_ type: AttributeType) throws {
        for value in Self.values {
            let isEmptyText = if case .text("") = value { true } else { false }
            if isEmptyText { continue }
            #expect(try local(value, as: type) == local(value, as: type, .emptyAsNull), "\(value)")
        }
    }
}
