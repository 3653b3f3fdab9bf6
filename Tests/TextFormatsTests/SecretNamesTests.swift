import Testing
import TextFormats

@Suite struct SecretNamesTests {
    @Test(arguments: ["api_key", "API-Key", "hapikey", "clientSecret", "Password", "X-Amz-Security-Token", "jwt"])
    func `a certain name is a secret as a member, a parameter and a header`(name: String) {
        #expect(SecretNames.certain.contains(SecretNames.plain(name)))
        #expect(SecretNames.isParameter(name) && SecretNames.isHeader(name) && SecretNames.suggests(name))
    }

    @Test(arguments: ["key", "sig", "X-Amz-Signature", "appid", "code"])
    func `some names are secrets in a URL alone`(name: String) {
        #expect(SecretNames.isParameter(name))
        #expect(!SecretNames.certain.contains(SecretNames.plain(name)))
    }

    @Test(arguments: [("key", true), ("user_token", true), ("code", false), ("session", false), ("sid", false)])
    func `a parameter that is often something else is not taken for a secret`(name: String, isSecret: Bool) {
        #expect(SecretNames.suggestsParameter(name) == isSecret)
    }

    @Test(arguments: ["X-Gitlab-Token", "Cookie", "X-Session-Id", "Ocp-Apim-Subscription-Key", "X-Auth"])
    func `a header is known by a part of its name`(name: String) { #expect(SecretNames.isHeader(name)) }

    @Test(arguments: ["page", "limit", "Accept", "Content-Type", "name", "monkey", "Idempotency-Key"])
    func `other names are not secrets`(name: String) {
        #expect(!SecretNames.isParameter(name) && !SecretNames.isHeader(name) && !SecretNames.suggests(name))
    }

    @Test(arguments: ["db_password", "webhook_secret", "gitlab-token", "service_credentials"])
    func `a part of a name suggests a secret`(name: String) { #expect(SecretNames.suggests(name)) }
}
