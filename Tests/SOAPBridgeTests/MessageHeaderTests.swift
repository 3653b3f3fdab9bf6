import BridgeKit
import Digests
import Testing
import TestSupport

@testable import SOAPBridge

@Suite struct MessageHeaderTests {
    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test(arguments: [
        ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"), ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
        ),
        (String(repeating: "a", count: 119), "ee971065aaa017e0632a8ca6c77bb3bf8b1dfc56"),
    ])
    func `SHA-1 gives the digests of FIPS 180`(text: String, digest: String) {
        #expect(hex(MessageDigest.digest(of: Array(text.utf8), .sha1)) == digest)
    }

    private func security(_ options: Literal) throws -> MessageSecurity {
        try #require(try MessageSecurity(options.options))
    }

    @Test func `a password digest is that of nonce, time and password`() throws {
        let block = try security(["username": "a&b", "password": "secret", "password_type": "digest"])
            .block(.v11, now: 1_600_000_000, nonce: Array("0123456789abcdef".utf8))
        // printf '0123456789abcdef2020-09-13T12:26:40Zsecret' | openssl sha1 -binary | base64
        #expect(block.contains("#PasswordDigest\">s+2uVGFy+3a7DDIccNH/DFB9WxI=</wsse:Password>"), "\(block)")
        #expect(block.contains(">MDEyMzQ1Njc4OWFiY2RlZg==</wsse:Nonce>"))
        #expect(block.contains("<wsu:Created>2020-09-13T12:26:40Z</wsu:Created>"))
        #expect(block.contains("<wsse:Username>a&amp;b</wsse:Username>"))
        #expect(block.contains(#"soap:mustUnderstand="1""#))
        #expect(!block.contains("secret"))
    }

    @Test func `a text password goes alone, or with nonce and time`() throws {
        let plain = try security(["username": "u", "password": "p<", "must_understand": .bool(false)])
            .block(.v12, now: 0, nonce: [1])
        #expect(plain.contains("#PasswordText\">p&lt;</wsse:Password></wsse:UsernameToken>"))
        #expect(!plain.contains("mustUnderstand"))
        let full = try security(["username": "u", "password": "p", "nonce": .bool(true)]).block(
            .v12, now: 0, nonce: [1])
        #expect(full.contains(">AQ==</wsse:Nonce><wsu:Created>1970-01-01T00:00:00Z</wsu:Created>"))
        #expect(full.contains(#"soap:mustUnderstand="true""#))
    }

    @Test func `a timestamp says when it ends`() throws {
        let block = try security(["timestamp": 300]).block(.v11, now: 1_600_000_000, nonce: [])
        #expect(
            block.contains(
                "<wsu:Created>2020-09-13T12:26:40Z</wsu:Created><wsu:Expires>2020-09-13T12:31:40Z</wsu:Expires></wsu:Timestamp>"
            ))
        #expect(!block.contains("UsernameToken"))
        #expect(
            try bridgeError { _ = try security(["password": "p"]) }.message.contains("neither username nor timestamp"))
    }

    @Test func `addressing names the action, the endpoint and a new id`() throws {
        let operation = try Samples.load().port(service: nil, port: nil, version: nil).1.operation("List")
        let addressing = try #require(try MessageAddressing(([:] as Literal).options))
        let text = try addressing.blocks(operation, endpoint: "http://h/?a&b", id: MessageAddressing.identifier())
        #expect(text.contains(#"<wsa:Action xmlns:wsa="http://www.w3.org/2005/08/addressing">urn:s/List</wsa:Action>"#))
        #expect(text.contains(">http://h/?a&amp;b</wsa:To>"))
        #expect(text.contains("<wsa:Address>http://www.w3.org/2005/08/addressing/anonymous</wsa:Address>"))
        #expect(
            text.firstMatch(of: /urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}</) != nil)
        #expect(MessageAddressing.identifier() != MessageAddressing.identifier())
        // Without a SOAPAction: target namespace, port type and the input's name.
        let echo = try Samples.load().port(service: nil, port: nil, version: nil).1.operation("Echo")
        #expect(try addressing.blocks(echo, endpoint: "", id: "").contains(">urn:s:P:EchoRequest<"))
        let old = try #require(try MessageAddressing((["version": "2004/08"] as Literal).options))
        #expect(try old.blocks(echo, endpoint: "", id: "").contains("2004/08/addressing/role/anonymous<"))
    }

    @Test(arguments: [
        (#"<w:UsingAddressing xmlns:w="http://www.w3.org/2006/05/addressing/wsdl" required="false"/>"#, true),
        (#"<w:UsingAddressing xmlns:w="http://www.w3.org/2006/05/addressing/wsdl" wsdl:required="false"/>"#, false),
        (##"<p:PolicyReference xmlns:p="http://www.w3.org/ns/ws-policy" URI="#yes"/>"##, true),
        (##"<p:PolicyReference xmlns:p="http://www.w3.org/ns/ws-policy" URI="#maybe"/>"##, false), ("", false),
    ])
    func `a binding, or its policy, may ask for addressing`(inBinding: String, asks: Bool) throws {
        func policy(_ id: String, _ attributes: String) -> String {
            "<p:Policy xmlns:p=\"http://www.w3.org/ns/ws-policy\" xmlns:u=\"\(Namespace.securityUtility)\" u:Id=\"\(id)\"><p:ExactlyOne><p:All>"
                + "<a:Addressing xmlns:a=\"http://www.w3.org/2007/05/addressing/metadata\" \(attributes)/></p:All></p:ExactlyOne></p:Policy>"
        }
        let text = Samples.wsdl(schemas: "", imports: policy("yes", "") + policy("maybe", "p:Optional=\"true\""))
            .replacing(
                #"<binding name="B11" type="t:P">"#,
                with: #"<binding name="B11" type="t:P" xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/">"# + inBinding)
        let port = try Samples.load(["http://a.example/s.wsdl": text]).port(service: nil, port: nil, version: nil).1
        #expect(port.usesAddressing == asks)
    }

    @Test func `blocks of the config take their namespace from the WSDL, or say it`() throws {
        let definition = try Samples.load()
        let operation = try definition.port(service: nil, port: nil, version: nil).1.operation("List")
        let headers = InputValue.object([
            .init(name: "List", value: .object([.init(name: "offset", value: .text("1"))])),
            .init(
                name: "{urn:other}Session",
                value: .object([
                    .init(name: "@mustUnderstand", value: .text("true")), .init(name: "id", value: .text("s<1")),
                    .init(name: "{urn:third}x", value: .null),
                ])),
        ])
        let text = String(
            decoding: try EnvelopeWriter.write(
                operation, version: .v11, input: .object([]), schemas: definition.schemas, headers: headers,
                rawHeaders: "<raw/>"
            ).bytes, as: UTF8.self)
        #expect(
            text.contains(
                "<soap:Header><raw/><n1:List><n1:offset>1</n1:offset></n1:List><n2:Session soap:mustUnderstand=\"1\"><n2:id>s&lt;1</n2:id>"
                    + "<n3:x xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:nil=\"true\"/></n2:Session></soap:Header>"
            ),
            "\(text)")
    }
}
