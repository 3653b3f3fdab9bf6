import BridgeKit
import RecordBatch
import Testing

@testable import BridgeHTTP

@Suite struct TokenRequestTests {
    @Test func `a list among the further fields of a token request repeats the field`() throws {
        let options = BridgeOptions { writer in
            writer.set("token_url", "https://id.example/token")
            writer.set("client_id", "bmo")
            writer.set("client_auth", "body")
            writer.set("parameters") {
                writer.key("scopes")
                writer.array {
                    writer.text("a b")
                    writer.text("c")
                }
                writer.set("realm", "x")
            }
        }
        let request = try TokenGrant(options, type: "oauth2", base: nil).request(refreshToken: nil)
        let body = try #require(request?.body)
        #expect(
            String(decoding: body, as: UTF8.self)
                == "grant_type=client_credentials&scopes=a%20b&scopes=c&realm=x&client_id=bmo")
    }
}
