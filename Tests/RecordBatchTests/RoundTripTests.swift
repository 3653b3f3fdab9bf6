import Foundation
import Testing
import TextFormats

@testable import RecordBatch

/// What a writer writes, a batch reads; and both as JSON text.
@Suite struct RoundTripTests {
    @Test func `every kind of value comes back`() throws {
        let writer = RecordBatchWriter()
        writer.object {
            for (key, write) in [
                ("null", { writer.null() }), ("bool", { writer.bool(true) }), ("min", { writer.int64(.min) }),
                ("max", { writer.int64(.max) }), ("double", { writer.double(-0.1) }),
                ("decimal", { writer.decimal("-123456789012345678901234567890.10e-5") }),
                ("text", { writer.text("a\u{0}\u{1F600}e\u{301}") }), ("empty", { writer.text("") }),
                ("bytes", { [0, 255].withUnsafeBytes { writer.bytes(UnsafeRawBufferPointer(rebasing: $0[0..<9])) } }),
                ("time", { writer.timestamp(microseconds: -1) }), ("array", { writer.array {} }),
                ("object", { writer.object {} }), ("", { writer.int64(0) }),
            ] as [(String, () -> Void)] {
                writer.key(key)
                write()
            }
        }
        let batch = try writer.finish()
        let record = batch[0]
        #expect(record.members.map(\.key).last == "" && record.count == 13 && batch.keyCount == 13)
        #expect(record["null"]?.tag == .null && record["bool"]?.boolean == true)
        #expect(record["min"]?.integer == .min && record["max"]?.integer == .max)
        #expect(record["double"]?.double == -0.1)
        #expect(record["decimal"]?.text == "-123456789012345678901234567890.10e-5")
        #expect(record["text"]?.text == "a\u{0}\u{1F600}e\u{301}" && record["empty"]?.text == "")
        #expect(record["bytes"].map { Array($0.rawBytes) } == [0, 0, 0, 0, 0, 0, 0, 0, 255])
        #expect(record["time"]?.tag == .timestamp && record["time"]?.int64 == -1)
        #expect(record["array"]?.tag == .array && record["array"]?.count == 0)
        #expect(record["object"]?.tag == .object && record["none"] == nil)
        withExtendedLifetime(batch) {}
    }

    @Test func `names of any length that differ in one byte are different names`() throws {
        let writer = RecordBatchWriter()
        var names = [""]
        for length in 1...40 {
            let plain = [UInt8](repeating: UInt8(ascii: "n"), count: length)
            names.append(String(decoding: plain, as: UTF8.self))
            for place in 0..<length {
                var other = plain
                other[place] = UInt8(ascii: "m")
                names.append(String(decoding: other, as: UTF8.self))
            }
        }
        // Twice: the second record meets the names of the first.
        for _ in 0..<2 {
            writer.object { for (number, name) in names.enumerated() { writer.member(name, Int64(number)) } }
        }
        let batch = try writer.finish()
        #expect(batch.keyCount == names.count)
        for index in 0..<2 {
            #expect(batch[index].members.map(\.key) == names)
            #expect(batch[index].members.map(\.value.int64) == names.indices.map(Int64.init))
        }
        withExtendedLifetime(batch) {}
    }

    @Test func `a batch is written again byte by byte`() throws {
        let writer = RecordBatchWriter()
        for number in 0..<50 as Range<Int64> {
            writer.object {
                writer.key("id")
                writer.int64(number)
                writer.key("list")
                writer.array {
                    for element in 0..<number {
                        writer.object {
                            writer.key("e\(element)"); writer.text("\(element)")
                        }
                    }
                }
            }
        }
        writer.text("a record may be any value")
        let batch = try writer.finish()
        let copier = RecordBatchWriter()
        for index in 0..<batch.count { copier.copy(batch[index]) }
        let copy = try copier.finish()
        #expect(batch.count == 51)
        #expect(copy.withBytes { Array($0) } == batch.withBytes { Array($0) })
        let again = try batch.withBytes { try RecordBatch(copying: $0) }
        #expect((0..<51).map { again.json($0) } == (0..<51).map { batch.json($0) })
    }

    @Test func `the last of two members of one name is found`() throws {
        let writer = RecordBatchWriter()
        writer.object {
            writer.key("a")
            writer.int64(1)
            writer.key("a")
            writer.int64(2)
        }
        let batch = try writer.finish()
        #expect(batch.keyCount == 1 && batch.json(0) == #"{"a":1,"a":2}"#)
        #expect(batch[0]["a"]?.integer == 2)
        withExtendedLifetime(batch) {}
    }

    @Test func `a member is found by its name in any normal form, and by no other name`() throws {
        let writer = RecordBatchWriter()
        writer.object {
            for (number, key) in ["caf\u{e9}", "cafe", "cafes", "nai\u{308}f", ""].enumerated() {
                writer.key(key)
                writer.int64(Int64(number))
            }
        }
        let batch = try writer.finish()
        let record = batch[0]
        #expect(record["caf\u{e9}"]?.integer == 0 && record["cafe\u{301}"]?.integer == 0)
        #expect(record["cafe"]?.integer == 1 && record["cafes"]?.integer == 2)
        #expect(record["nai\u{308}f"]?.integer == 3 && record["na\u{ef}f"]?.integer == 3)
        #expect(record[""]?.integer == 4)
        #expect(record["caf"] == nil && record["Cafe"] == nil && record["cafe\u{0}"] == nil)
        withExtendedLifetime(batch) {}
    }

    @Test func `a writer is empty after each batch`() throws {
        let writer = RecordBatchWriter()
        for round in 0..<3 as Range<Int64> {
            writer.object {
                writer.key("round\(round)")
                writer.int64(round)
            }
            #expect(writer.recordCount == 1)
            let batch = try writer.finish()
            #expect(batch.count == 1 && batch.keyCount == 1 && batch.key(0) == "round\(round)")
            #expect(writer.recordCount == 0)
        }
        #expect(try writer.finish().count == 0)
    }

    @Test func `an abandoned record leaves the others`() throws {
        let writer = RecordBatchWriter()
        writer.int64(1)
        writer.beginObject()
        writer.key("a")
        writer.beginArray()
        writer.text("half")
        writer.abandonRecord()
        writer.int64(2)
        let batch = try writer.finish()
        #expect((0..<batch.count).map { batch.json($0) } == ["1", "2"])
    }

    @Test func `what is not finished is refused`() throws {
        let open = RecordBatchWriter()
        open.beginArray()
        #expect(throws: RecordBatchError.self) { try open.finish() }
        let keyless = RecordBatchWriter()
        keyless.object { keyless.int64(1) }
        #expect(throws: RecordBatchError.self) { try keyless.finish() }
        let crossed = RecordBatchWriter()
        crossed.beginArray()
        crossed.endObject()
        #expect(throws: RecordBatchError.self) { try crossed.finish() }
        let deep = RecordBatchWriter()
        for _ in 0..<200 { deep.beginArray() }
        for _ in 0..<200 { deep.endArray() }
        #expect(throws: RecordBatchError.self) { try deep.finish() }
    }

    @Test(arguments: [
        ("", #""""#), ("a\"b\\c", #""a\"b\\c""#), ("\u{8}\u{c}\n\r\t", #""\u0008\u000c\n\r\t""#),
        ("\u{0}\u{1f}\u{7f}", #""\u0000\u001f\u007f""#), ("/é👩‍👩‍👧\u{2028}", "\"/é👩‍👩‍👧\u{2028}\""), ("\r\n", #""\r\n""#),
    ])
    func `a text becomes AJSON string`(text: String, json: String) throws {
        var out = ""
        out.appendJSONString(text)
        #expect(Array(out.utf8) == Array(json.utf8))
        let parsed = try JSONSerialization.jsonObject(with: Data(out.utf8), options: .fragmentsAllowed)
        #expect((parsed as? String).map { Array($0.utf8) } == Array(text.utf8), "as another parser reads it")
    }

    @Test func `numbers become JSON numbers`() throws {
        let writer = RecordBatchWriter()
        writer.array {
            for number in [0, -0.0, 1.5, 1e300, 5e-300, .nan, .infinity, -.infinity] { writer.double(number) }
            writer.decimal("0.10")
            writer.int64(.min)
            writer.bool(false)
            writer.timestamp(microseconds: 951_782_400_000_000)
            [251, 255].withUnsafeBytes { writer.bytes(UnsafeRawBufferPointer(rebasing: $0[0..<1])) }
        }
        let batch = try writer.finish()
        #expect(
            batch.json(0) == """
                [0.0,-0.0,1.5,1e+300,5e-300,"NaN","INF","-INF",0.10,-9223372036854775808,false,\
                "2000-02-29T00:00:00.000000Z","+w=="]
                """)
        let parsed = try JSONSerialization.jsonObject(with: Data(batch.json(0).utf8))
        #expect((parsed as? [Any])?.count == 13)
    }
}

@Suite struct Base64Tests {
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `the examples of the RFC hold`(text: String, base64: String) {
        // RFC 4648, section 10.
        #expect(Array(text.utf8).withUnsafeBytes(Base64.encode) == base64)
        #expect(Base64.decode(base64) == Array(text.utf8))
        #expect(Base64.decode(base64.replacing("=", with: "")) == Array(text.utf8))
    }

    @Test func `all bytes come back in both alphabets`() {
        for length in 0..<300 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 37 + length) }
            let text = bytes.withUnsafeBytes(Base64.encode)
            #expect(text == Data(bytes).base64EncodedString())
            #expect(Base64.decode(text) == bytes)
            #expect(Base64.decode(text.replacing("+", with: "-").replacing("/", with: "_")) == bytes)
        }
    }

    @Test(arguments: ["A", "AAAAA", "A=AA", "====A", "A*==", "Zm9v.", "Zg==Zg==", "é"])
    func `anything else is none`(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test func `white space is ignored`() {
        #expect(Base64.decode(" Z\tm\r\n9 v ") == Array("foo".utf8))
    }
}

@Suite struct TimestampTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000000Z"), (-1, "1969-12-31T23:59:59.999999Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
            (-2_203_891_200_000_001, "1900-02-28T23:59:59.999999Z"),
            (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
            (-62_135_596_800_000_000, "0001-01-01T00:00:00.000000Z"),
        ] as [(Int64, String)])
    func `a point in time has one text`(microseconds: Int64, text: String) {
        #expect(Timestamp.text(microseconds: microseconds) == text)
    }

    @Test func `the longest integers have a text too`() throws {
        #expect(Timestamp.text(microseconds: .max) == "294247-01-10T04:00:54.775807Z")
        #expect(Timestamp.text(microseconds: .min) == "-290308-12-21T19:59:05.224192Z")
        let writer = RecordBatchWriter()
        writer.timestamp(microseconds: .min)
        #expect(try writer.finish().json(0) == #""-290308-12-21T19:59:05.224192Z""#, "a plugin may say anything")
    }

    @Test func `both ways of writing agree every few days`() {
        // 13 days and some odd time, over 9,999 years.
        var microseconds: Int64 = -62_135_596_800_000_000
        let step: Int64 = 13 * 86_400_000_000 + 12_345_678_901
        withUnsafeTemporaryAllocation(byteCount: Timestamp.textLength, alignment: 1) { bytes in
            while microseconds <= 253_402_300_799_999_999 {
                Timestamp.write(microseconds: microseconds, to: bytes)
                let text = Timestamp.text(microseconds: microseconds)
                if String(decoding: bytes, as: UTF8.self) != text { Issue.record("\(microseconds): \(text)") }
                microseconds += step
            }
        }
    }

    @Test func `days and dates are each others inverse`() {
        var previous: (year: Int64, month: Int64, day: Int64)?
        for days in stride(from: Int64(-719_162), through: 2_932_896, by: 1) {
            let date = Timestamp.civil(days: days)
            let back = Timestamp.days(year: date.year, month: date.month, day: date.day)
            if back != days { Issue.record("\(days) became \(date), and that \(back)") }
            if let previous, previous >= date { Issue.record("\(date) does not come after \(previous)") }
            previous = date
        }
        #expect(previous?.year == 9999)
    }
}
