import Model
import Testing

@testable import BMO

@Suite struct IntrospectionCredentialsTests {
    private let options: [(key: String, value: ConfigValue)] = [
        ("url", .string("https://api.example.com/v1")), ("auth", .object([("type", .string("bearer"))])),
        ("headers", .object([])), ("tls", .object([])), ("timeout", .int(3)),
    ]

    @Test(arguments: ["https://api.example.com/openapi.json", "https://API.example.com"])
    func `a document of the API's origin is read with its credentials`(place: String) {
        let sent = IntrospectionCredentials.options(options, sentTo: place).map(\.key)
        #expect(sent == ["auth", "headers", "tls", "timeout"])
    }

    @Test(arguments: [
        "https://cdn.example.com/openapi.json", "http://api.example.com/openapi.json", "https://api.example.com:8443/x",
        "https://api.example.com.evil.test/x",
    ])
    func `a document of another origin, or behind a redirect there, is read without`(place: String) {
        #expect(IntrospectionCredentials.options(options, sentTo: place).map(\.key) == ["timeout"])
    }

    @Test func `without a URL the document's origin is taken for the API's`() {
        let sent = IntrospectionCredentials.options(Array(options.dropFirst()), sentTo: "https://docs.example.com/x")
        #expect(sent.map(\.key) == ["auth", "headers", "tls", "timeout"])
    }

    @Test func `a URL with a credential in its query comes from the environment`() {
        let written = IntrospectionCredentials([
            ("wsdl", .string("https://h/soap?wsdl&api%4bey=lit")),
            ("endpoint", .string("https://h/soap?wsdl&kind=key")),
        ])
        #expect(written.options.map(\.value) == [.secret(.env("WSDL")), .string("https://h/soap?wsdl&kind=key")])
        #expect(written.notes == ["wsdl: put its value, with its apiKey, into the environment variable WSDL"])
    }
}
