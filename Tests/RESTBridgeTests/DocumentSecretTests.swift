import BridgeKit
import RESTBridge
import TestLiterals
import TestSupport
import Testing

/// What discover makes of credentials in documents: their values are not copied.
struct DocumentSecretTests {
    private static let secret = "s3cret"

    /// A document with a server and with listings at paths, each with its parameters in the query, in JSON.
    private func document(
        server: String = #"{"url": "https://h/v1"}"#, _ listings: [String: String], schemes: String = "{}"
    ) -> String {
        let paths = listings.sorted { $0.key < $1.key }.map { path, parameters in
            let item = #"{"type": "object", "properties": {"id": {"type": "integer"}}}"#
            let reply = #"{"content": {"application/json": {"schema": {"type": "array", "items": \#(item)}}}}"#
            return #""/\#(path)": {"get": {"parameters": [\#(parameters)], "responses": {"200": \#(reply)}}}"#
        }
        return """
            {"openapi": "3.0.3", "info": {"title": "T"}, "servers": [\(server)], "paths": {\(paths.joined(separator: ","))},
             "components": {"securitySchemes": \(schemes)}}
            """
    }

    private func parameter(_ name: String, _ schema: String) -> String {
        #"{"name": "\#(name)", "in": "query", "required": true, "schema": \#(schema)}"#
    }

    private static let text = #"{"type": "string", "default": "s3cret"}"#

    @Test func `a parameter that each request must have authenticates it`() throws {
        let key = parameter("api_key", Self.text)
        let kind = parameter("kind", #"{"type": "string", "example": "active"}"#)
        let offers = try discover(document(["pets": "\(key), \(kind)", "toys": key]))
        #expect(!offers.values.joined().contains(Self.secret), "\(offers)")
        let options = try #require(offers[""])
        #expect(
            options.contains(#""auth":{"type":"api_key","value":{"env":"T_API_KEY"},"query":"api_key"}"#), "\(options)")
        #expect(!options.contains(#""parameters""#), "\(options)")
        let pet = try #require(offers["Pet"])
        #expect(pet.contains(#""query":{"kind":"active"}"#), "\(pet)")
    }

    @Test func `further ones are variables, whose values the bridge's options have`() throws {
        let token = parameter("token", Self.text)
        let scheme = #"{"b": {"type": "http", "scheme": "bearer"}}"#
        let offers = try discover(document(["pets": token, "toys": ""], schemes: scheme))
        #expect(!offers.values.joined().contains(Self.secret), "\(offers)")
        let options = try #require(offers[""])
        #expect(options.contains(#""auth":{"type":"bearer","token":{"env":"T_TOKEN"}}"#), "\(options)")
        #expect(options.contains(#""parameters":{"token":{"env":"T_PARAMETER_TOKEN"}}"#), "\(options)")
        let pet = try #require(offers["Pet"])
        #expect(pet.contains(#""query":{"token":"{token}"}"#) && !pet.contains("obstacle"), "\(pet)")
    }

    @Test func `a parameter with listed values, or of another kind, is none`() throws {
        let sort = parameter("auth", #"{"type": "string", "enum": ["basic", "none"]}"#)
        let flag = parameter("signature", #"{"type": "boolean", "default": true}"#)
        let offers = try discover(document(["pets": "\(sort), \(flag)"]))
        let pet = try #require(offers["Pet"])
        #expect(pet.contains(#""query":{"auth":"basic","signature":true}"#), "\(pet)")
    }

    @Test func `a user and a password in a server's address are left out`() throws {
        let offers = try discover(document(server: #"{"url": "https://bob:s3cret@h/v1"}"#, ["pets": ""]))
        let options = try #require(offers[""])
        #expect(
            options.contains(
                #""url":"https://h/v1","auth":{"type":"basic","user":{"env":"T_USER"},"password":{"env":"T_PASSWORD"}}"#
            ), "\(options)")
        #expect(!options.contains("bob") && !options.contains(Self.secret), "\(options)")
    }

    @Test func `a key in the query of a server's address authenticates requests`() throws {
        let offers = try discover(
            document(server: #"{"url": "https://h/v1?region=eu&api_key=s3cret"}"#, ["pets": ""]))
        let options = try #require(offers[""])
        #expect(options.contains(#""url":"https://h/v1?region=eu""#), "\(options)")
        #expect(options.contains(#""value":{"env":"T_API_KEY"},"query":"api_key""#), "\(options)")
        #expect(!offers.values.joined().contains(Self.secret), "\(offers)")
    }

    @Test func `an address with a credential in its path comes from the environment`() throws {
        let server = #"{"url": "https://h/{token}/v1", "variables": {"token": {"default": "s3cret"}}}"#
        let offers = try discover(document(server: server, ["pets": ""]))
        let options = try #require(offers[""])
        #expect(options.contains(#""url":{"env":"T_URL"}"#), "\(options)")
        #expect(options.contains("put https://h/{token}/v1, with the value, into the environment variable T_URL"))
        #expect(!offers.values.joined().contains(Self.secret), "\(offers)")
    }

    @Test func `the body that a search must have has variables for its credentials`() throws {
        let body = """
            {"required": ["api_key"], "properties": {"api_key": {"type": "string", "example": "s3cret"},
              "offset": {"type": "integer"}, "limit": {"type": "integer"}}}
            """
        let item = #"{"type": "object", "title": "Pet", "properties": {"id": {"type": "integer"}}}"#
        let offers = try discover(
            """
            {"openapi": "3.0.3", "info": {"title": "T"}, "servers": [{"url": "https://h"}], "paths": {"/pets/search": {"post": {
              "requestBody": {"content": {"application/json": {"schema": \(body)}}},
              "responses": {"200": {"content": {"application/json": {"schema": {"type": "array", "items": \(item)}}}}}}}}}
            """)
        let pet = try #require(offers["Pet"])
        #expect(pet.contains(#""body":{"api_key":"{api_key}"}"#), "\(pet)")
        let options = try #require(offers[""])
        #expect(options.contains(#""parameters":{"api_key":{"env":"T_API_KEY"}}"#), "\(options)")
        #expect(!offers.values.joined().contains(Self.secret), "\(offers)")
    }
}
