import Foundation
import Model
import Synchronization
import TestSupport
import Testing
import WebServer

@testable import WebPage

/// Secrets whose files are replaced while the program runs.
@Suite struct FollowedSecretTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("the first secret\n", to: "secret")
    }

    private func secret(warn: @escaping @Sendable (String) -> Void = { _ in }) throws -> FollowedSecret {
        let (reference, directory) = (SecretReference.file("secret"), folder.path)
        return try FollowedSecret(reference, in: directory, warn: warn) {
            let secret = try reference.resolve(relativeTo: directory, environment: [:])
            guard secret.count >= 12 else { throw PageFailure(500, "it is too short") }
            return secret
        }
    }

    @Test func `a new secret counts at once, and the last one while there is none that is valid`() throws {
        let warnings = Mutex<[String]>([])
        let secret = try secret { words in warnings.withLock { $0.append(words) } }
        #expect(secret.value == "the first secret")
        try folder.write("the second secret", to: "secret")
        #expect(secret.value == "the second secret" && secret.value == "the second secret")
        for _ in 1...2 {
            try folder.write("short", to: "secret")
            for _ in 1...2 { #expect(secret.value == "the second secret") }
        }
        #expect(
            warnings.withLock { $0 } == ["it is too short; the secret that was read before still counts"])
        try folder.write("the third secret", to: "secret")
        #expect(secret.value == "the third secret")
    }

    @Test func `a warning names the file that is missing`() throws {
        let warnings = Mutex<[String]>([])
        let secret = try secret { words in warnings.withLock { $0.append(words) } }
        let file = folder.appending("secret")
        try FileManager.default.removeItem(atPath: file)
        #expect(secret.value == "the first secret")
        #expect(
            warnings.withLock { $0 } == [
                "the secret's file \(file) does not exist; check the path; the secret that was read before still counts"
            ])
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        #expect(secret.value == "the first secret")
        #expect(warnings.withLock { $0.last }?.hasPrefix("\(file) is not a regular file any more; ") == true)
    }

    @Test func `a secret that is not there at first is a fault`() {
        #expect(throws: (any Error).self) {
            try FollowedSecret(
                .file("missing"), in: folder.path,
                read: { try SecretReference.file("missing").resolve(relativeTo: "/", environment: [:]) })
        }
    }

    @Test func `a new password ends the sessions that began with the old one`() throws {
        let gate = SiteGate(WebSite.Access(password: try secret()))
        func request(_ method: String, _ name: String, _ value: String, _ body: String = "") throws -> WebRequest {
            let headers = [(name: "Host", value: "localhost"), (name: name, value: value)]
            return try #require(
                WebRequest(method: method, target: "/login", headers: headers, body: Array(body.utf8)))
        }
        func login(_ password: String) throws -> WebResponse {
            let form = try request(
                "POST", "Content-Type", "application/x-www-form-urlencoded", "password=\(password)")
            guard case .refused(let response) = gate.sender(of: form) else { throw PageFailure(500, "no response") }
            return response
        }
        let welcome = try login("the+first+secret")
        #expect(welcome.status == 303)
        let field = try #require(welcome.headers.first { $0.name == "Set-Cookie" })
        let visit = try request("GET", "Cookie", String(field.value.prefix { $0 != ";" }))
        #expect(gate.refusal(of: visit) == nil && gate.session(of: visit) != nil)
        try folder.write("the second secret", to: "secret")
        #expect(gate.refusal(of: visit) == nil && gate.session(of: visit) == nil)
        #expect(try login("the+first+secret").status == 401)
        #expect(try login("the+second+secret").status == 303)
    }
}
