@testable import BridgeHTTP
import BridgeKit
import Foundation
import Synchronization
import TestSupport
import Testing

/// Refresh tokens that the server has replaced while the database cannot save the new one, or has only seemingly replaced.
@Suite struct UnsavedLoginTests {
    /// The host's texts, whose saves fail while the disk is full.
    private final class Texts: Sendable {
        struct Full: Error {}
        private let state = Mutex((values: [String: String](), saves: 0, failing: 0..<0))

        /// Makes these of the next saves fail, counted from 0.
        func fail(_ saves: Range<Int>) {
            state.withLock { $0 = ($0.values, 0, saves) }
        }

        /// The texts by their names.
        var values: [String: String] {
            get { state.withLock { $0.values } }
            set { state.withLock { $0.values = newValue } }
        }

        func answer(_ call: SharedTextCall) throws -> String? {
            try state.withLock { state in
                switch call {
                case .lock(let name): return state.values[name]
                case .release: return nil
                case .save(let name, let text):
                    defer { state.saves += 1 }
                    guard !state.failing.contains(state.saves) else { throw Full() }
                    state.values[name] = text
                    return nil
                }
            }
        }
    }

    private func newClient(
        _ server: RemoteServer, _ refreshToken: String, _ texts: Texts, scope: String = "", path: String = "/token"
    ) throws -> HTTPClient {
        let members = [
            ("type", "oauth2"), ("token_url", server.url + path), ("client_id", "bmo"), ("refresh_token", refreshToken),
        ]
        let options = BridgeOptions { $0.setAuth(members + (scope.isEmpty ? [] : [("scope", scope)])) }
        return try HTTPClient(
            options: HTTPOptions(options), context: BridgeContext(share: { try texts.answer($0) }))
    }

    @Test func `a token that could not be saved twice is still used the third time`() async throws {
        let first = "refresh-first-0123456789abcdef"
        let server = try await RemoteServer.python("rotating-tokens.py", "1", "1", first)
        let texts = Texts()
        let client = try newClient(server, first, texts)
        func get() throws -> Int { try client.start(HTTPRequest(url: server.url + "/teams")).response().status }
        // The answer with the new tokens cannot be saved; the note before the request could.
        texts.fail(1..<2)
        #expect(try get() == 200)
        // A token is good for one request: the next one needs another, and the save that should come first fails again.
        texts.fail(0..<1)
        #expect(throws: (any Error).self) { try get() }
        texts.fail(0..<0)
        #expect(try get() == 200)
        let requests = try String(contentsOfFile: server.folder.appending("tokens"), encoding: .utf8)
        #expect(requests == "granted\ngranted\n", "the first refresh token was not used again")
    }

    @Test(arguments: ["", "  "])
    func `an empty refresh token in a reply does not replace the one of before`(sent: String) async throws {
        let first = "refresh-first-0123456789abcdef"
        let server = try await RemoteServer.python("rotating-tokens.py", "1", "1", first)
        let texts = Texts()
        let client = try newClient(server, first, texts)
        func status(_ client: HTTPClient) throws -> Int {
            try client.start(HTTPRequest(url: server.url + "/teams")).response().status
        }
        // The first token is replaced, and then its successor is kept: a fallback to the first one would be refused.
        #expect(try status(client) == 200)
        try sent.write(toFile: server.folder.appending("kept"), atomically: true, encoding: .utf8)
        for _ in 0..<3 { #expect(try status(client) == 200) }
        #expect(try status(newClient(server, first, texts)) == 200, "another process has the same token")
        let requests = try String(contentsOfFile: server.folder.appending("tokens"), encoding: .utf8)
        #expect(requests == String(repeating: "granted\n", count: 5))
    }

    @Test func `another scope or query of the token URL continues the login, with a token of its own`() async throws {
        let first = "refresh-first-0123456789abcdef"
        let server = try await RemoteServer.python("rotating-tokens.py", "1", "1000", first)
        let texts = Texts()
        for (scope, path) in [("read", "/token"), ("write", "/token"), ("write", "/token?tenant=1")] {
            let client = try newClient(server, first, texts, scope: scope, path: path)
            #expect(try client.start(HTTPRequest(url: server.url + "/teams")).response().status == 200)
        }
        let requests = try String(contentsOfFile: server.folder.appending("tokens"), encoding: .utf8)
        #expect(requests == String(repeating: "granted\n", count: 3), "the refresh token was used once")
        let seal = try #require(TextSeal(secret: first))
        let saved = texts.values.values.compactMap { seal.open($0) }.compactMap { SavedLogin(json: $0) }
        #expect(saved.map(\.tokens.count) == [3])
        // The same options find their token again.
        let client = try newClient(server, first, texts, scope: "write", path: "/token?tenant=1")
        #expect(try client.start(HTTPRequest(url: server.url + "/teams")).response().status == 200)
        #expect(try String(contentsOfFile: server.folder.appending("tokens"), encoding: .utf8) == requests)
    }

    @Test func `a login that an earlier version saved is continued`() async throws {
        let first = "refresh-first-0123456789abcdef"
        let server = try await RemoteServer.python("rotating-tokens.py", "1", "1", first)
        let texts = Texts()
        func get(_ scope: String) throws -> Int {
            let client = try newClient(server, first, texts, scope: scope)
            return try client.start(HTTPRequest(url: server.url + "/teams")).response().status
        }
        #expect(try get("read") == 200)
        // As that version saved it.
        let seal = try #require(TextSeal(secret: first))
        let text = try #require(texts.values.values.first.flatMap { seal.open($0) })
        let login = try #require(SavedLogin(json: text))
        let former = #"{"refresh_token":"\#(login.refreshToken)","token":"x","expiry":null,"request":null}"#
        let name = try #require(seal.name(for: "\(server.url)/token bmo read"))
        texts.values = [name: try #require(seal.seal(former))]
        for scope in ["read", "write"] { #expect(try get(scope) == 200) }
        let requests = try String(contentsOfFile: server.folder.appending("tokens"), encoding: .utf8)
        #expect(requests == String(repeating: "granted\n", count: 3), "the first refresh token was not used again")
    }
}
