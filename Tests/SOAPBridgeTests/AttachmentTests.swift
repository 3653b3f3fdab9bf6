import BridgeKit
import RecordBatch
import Testing
import TestSupport

@testable import SOAPBridge

/// MTOM (XOP) and SOAP with Attachments.
@Suite struct AttachmentTests {
    private static let type =
        #"multipart/related; type="application/xop+xml"; boundary="b+1"; start="<root@x>"; start-info="text/xml""#
    private static let include = #"<x:Include xmlns:x="http://www.w3.org/2004/08/xop/include" href="cid:"#

    private func message(_ items: String, root: String = "<root@x>") -> String {
        "preamble\r\n--b+1\r\nContent-Type: application/xop+xml;\r\n charset=utf-8\r\nContent-ID: \(root)\r\n\r\n"
            + Samples.list(items)
            + "\r\n--b+1  \r\nContent-ID: <one@x>\r\nContent-Transfer-Encoding: binary\r\n\r\n\u{1}\r\n--b+\r\n--b\u{2}"
            + "\r\n--b+1\r\ncontent-id:<two words>\r\nContent-Transfer-Encoding: base64\r\n\r\naGVs\r\nbG8=\r\n"
            + "\r\n--b+1\r\nContent-Location: http://h/three\r\n\r\n\r\n--b+1--\r\nepilogue"
    }

    private func read(_ text: String, type: String? = Self.type, piece: Int = .max) throws -> Samples.Outcome {
        try Samples.read(text, Samples.plan(Samples.load()), piece: piece, contentType: type)
    }

    private let items =
        "<n:item><n:id>1</n:id><n:image>\n \(Self.include)one@x\"/></n:image></n:item><n:item><n:id>2</n:id></n:item>"
        + "<n:item><n:id>3</n:id><n:image>\(Self.include)two%20words\"/></n:image><n:other href=\"cid:one@x\"/></n:item>"
        + "<n:item><n:id>4</n:id><n:image>\(Self.include)gone\"/></n:image></n:item>"

    @Test func `parts become the bytes of what includes them, wherever the message is cut`() throws {
        for piece in [1, 2, 3, 5, 8, 13, 64, Int.max] {
            let outcome = try read(message(items), piece: piece)
            #expect(outcome.error == nil)
            #expect(
                outcome.records == [
                    #"{"id":2}"#, #"{"id":1,"image":"AQ0KLS1iKw0KLS1iAg=="}"#,
                    #"{"id":3,"image":"aGVsbG8=","other":"AQ0KLS1iKw0KLS1iAg=="}"#,
                ], "pieces of \(piece)")
            // Null would wipe what is known of it.
            let rejected = outcome.reader.takeRejected()
            #expect(rejected.map(\.representation) == [#"{"id":4,"image":{"href":"cid:gone"}}"#])
            #expect(
                rejected.map(\.reason) == ["the record refers to the attachment \"gone\", which is not in the reply"])
            #expect(outcome.reader.recordCount == 4)
        }
    }

    @Test func `every boundary of two pieces gives the same parts`() throws {
        func events(_ pieces: [[UInt8]]) throws -> [MultipartSplitter.Event] {
            var splitter = MultipartSplitter(boundary: "b+1")
            var all: [MultipartSplitter.Event] = []
            for piece in pieces {
                for event in try splitter.feed(piece) {
                    if case .content(let more) = event, case .content(let before)? = all.last {
                        all[all.count - 1] = .content(before + more)
                    } else {
                        all.append(event)
                    }
                }
            }
            #expect(splitter.isOver)
            return all
        }
        let bytes = Array(message(items).utf8)
        let whole = try events([bytes])
        #expect(whole.filter { $0 == .endOfPart }.count == 4)
        for cut in stride(from: 1, to: bytes.count, by: bytes.count < 4000 ? 3 : 7) {
            #expect(try events([Array(bytes[..<cut]), Array(bytes[cut...])]) == whole, "cut at \(cut)")
        }
    }

    @Test func `the envelope is the part that start names, or the first`() throws {
        let swapped =
            "--b+1\r\nContent-ID: <one@x>\r\n\r\nA\r\n--b+1\r\nContent-ID: <root@x>\r\n\r\n"
            + Samples.list("<n:item><n:image>\(Self.include)one@x\"/></n:image></n:item>") + "\r\n--b+1--"
        #expect(try read(swapped).records == [#"{"image":"QQ=="}"#])
        #expect(try read(message("<n:item/>"), type: "multipart/related;boundary=b+1").records == ["{}"])
    }

    @Test func `an attachment is decoded as it says, and a record with one that cannot be goes to quarantine`() throws {
        let base64 = "base64\r\n\r\naGVs\r\nbG8=\r\n"
        let quoted = message(items).replacing(
            base64, with: "Quoted-Printable\r\n\r\n=C3=a9=3D=\r\nx \t\r\ny=")
        for piece in [1, 2, 3, 5, 64, Int.max] {
            let outcome = try read(quoted, piece: piece)
            #expect(outcome.error == nil)
            #expect(
                outcome.records.contains(#"{"id":3,"image":"w6k9eA0KeQ==","other":"AQ0KLS1iKw0KLS1iAg=="}"#),
                "\(outcome.records)")
        }
        let unknown = try read(message(items).replacing(base64, with: "x-uuencode\r\n\r\nbegin 644 x"))
        #expect(unknown.records == [#"{"id":2}"#, #"{"id":1,"image":"AQ0KLS1iKw0KLS1iAg=="}"#])
        #expect(
            unknown.reader.takeRejected().map(\.reason).first
                == "the attachment \"two words\" of the record is encoded as x-uuencode, which is not supported")
        let compressed = try read(
            message(items).replacing("<one@x>\r\n", with: "<one@x>\r\nContent-Encoding: gzip\r\n"))
        #expect(
            compressed.reader.takeRejected().map(\.reason).first
                == "the attachment \"one@x\" of the record is encoded as gzip, which is not supported")
    }

    @Test func `text that is not quoted-printable stays as it is`() {
        var decoder = QuotedPrintableDecoder()
        let decoded = decoder.feed(Array("a=G1 =4\r\n=  \r\nb\t =".utf8)) + decoder.finish()
        #expect(String(decoding: decoded, as: UTF8.self) == "a=G1 =4\r\nb\t ")
    }

    @Test func `a message that breaks off, or has no envelope, is malformed`() throws {
        let broken = try #require(try read(String(message("<n:item/>").dropLast(20))).error)
        #expect(broken.message.contains("last boundary is missing"))
        let none = try #require(try read("--b+1\r\nContent-ID: <a>\r\n\r\nA\r\n--b+1--").error)
        #expect(none.message.contains("no part with an envelope"))
        #expect(try bridgeError { _ = try read("", type: "multipart/related") }.message.contains("without a boundary"))
        let headers = try #require(try read("--b+1\r\n" + String(repeating: "a: b\r\n", count: 20_000)).error)
        #expect(headers.code == .limit)
        let padding = try #require(try read("--b+1" + String(repeating: " ", count: 2_000)).error)
        #expect(padding.message == "a boundary of the reply has more than 1024 bytes after it")
    }

    @Test func `a fault in a multipart reply is a fault`() throws {
        let fault = message("").replacing(
            Samples.list(""),
            with: Samples.envelope("<e:Fault><faultcode>Server</faultcode><faultstring>no</faultstring></e:Fault>"))
        #expect(try read(fault).reader.fault?.words == "Server: no")
    }

    @Test func `a message with bare line feeds has the same parts, and one with both its binary ones`() throws {
        let bare = message(items).replacing("\r\n", with: "\n")
        for piece in [1, 3, 64, Int.max] {
            let outcome = try read(bare, piece: piece)
            #expect(outcome.error == nil, "\(String(describing: outcome.error))")
            #expect(
                outcome.records.contains(#"{"id":3,"image":"aGVsbG8=","other":"AQotLWIrCi0tYgI="}"#),
                "\(outcome.records)")
        }
        // Where lines end with CRLF, a boundary after a bare line feed is content.
        let binary = message(items).replacing("\r\n--b+\r\n", with: "\n--b+1\r\n")
        let outcome = try read(binary)
        #expect(outcome.error == nil)
        #expect(outcome.records.contains { $0.hasPrefix(#"{"id":1,"image":"AQotLWIrMQ0K"#) }, "\(outcome.records)")
    }
}
