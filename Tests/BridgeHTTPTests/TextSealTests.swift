@testable import BridgeHTTP
import Testing

/// The encryption of what is saved of a login.
@Suite struct TextSealTests {
    @Test func `only the secret opens a text`() throws {
        let seal = try #require(TextSeal(secret: "refresh-1"))
        let sealed = try #require(seal.seal("{\"refresh_token\":\"é 2\"}"))
        #expect(!sealed.contains("refresh"))
        #expect(seal.open(sealed) == "{\"refresh_token\":\"é 2\"}")
        #expect(try #require(TextSeal(secret: "refresh-2")).open(sealed) == nil)
        // The same text looks different each time, and its name does not.
        #expect(seal.seal("a") != seal.seal("a"))
        #expect(seal.name(for: "a") == seal.name(for: "a"))
        #expect(seal.name(for: "a") != seal.name(for: "b"))
    }

    @Test func `a text that was changed or cut is not opened`() throws {
        let seal = try #require(TextSeal(secret: "refresh-1"))
        let sealed = try #require(seal.seal("a login"))
        // The padding of base64 at the end is no part of the bytes.
        for length in 0..<sealed.utf8.count - 2 { #expect(seal.open(String(sealed.prefix(length))) == nil) }
        for place in 2..<sealed.count - 4 {
            var changed = Array(sealed)
            changed[place] = changed[place] == "A" ? "B" : "A"
            #expect(seal.open(String(changed)) == nil, "\(place)")
        }
        #expect(seal.open("1:") == nil && seal.open("text") == nil)
    }

    @Test func `what is saved is read again`() {
        var login = SavedLogin(refreshToken: "a\"b")
        login.keep(SavedLogin.Token(use: "read", token: "t", expiry: 1_790_000_000.5))
        login.keep(SavedLogin.Token(use: "write", token: "u\"", expiry: nil))
        login.request = "process 1 on host (now)"
        #expect(SavedLogin(json: login.json) == login)
        #expect(SavedLogin(json: SavedLogin(refreshToken: "r").json) == SavedLogin(refreshToken: "r"))
        #expect(SavedLogin(json: "{}") == nil && SavedLogin(json: "no JSON") == nil)
        #expect(SavedLogin(json: SavedLogin(refreshToken: "").json) == nil, "the configured token is used instead")
    }

    @Test func `the newest token of each use is saved, as long as there is room`() {
        var login = SavedLogin(refreshToken: "r")
        for number in 1...2 { login.keep(SavedLogin.Token(use: "read", token: "t\(number)", expiry: nil)) }
        #expect(login.tokens.map(\.token) == ["t2"])
        let large = String(repeating: "x", count: 5000)
        for use in ["a", "b", "c"] { login.keep(SavedLogin.Token(use: use, token: large, expiry: nil)) }
        #expect(login.tokens.map(\.use) == ["b", "c"] && login.token(for: "read") == nil)
    }
}
