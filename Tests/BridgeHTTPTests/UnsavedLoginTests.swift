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

    private func newClient(_ server: RemoteServer, _ refreshToken: String, _ texts: Texts) throws -> HTTPClient {
        let options = BridgeOptions { writer in
            writer.setAuth([
                ("type", "oauth2"), ("token_url", server.url + "/token"), ("client_id", "bmo"),
                ("refresh_token", refreshToken),
            ])
        }
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
}
