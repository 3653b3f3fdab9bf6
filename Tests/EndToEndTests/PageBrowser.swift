import Foundation
import TestSupport
import Testing

/// A running `bmo serve`, and a browser without script: curl with a session's cookie.
final class PageBrowser: Sendable {
    /// A reply of the page.
    struct Reply: CustomStringConvertible {
        let status: Int
        let head: String
        let body: String

        var description: String { head + "\n\n" + body }

        /// Returns the value of a header field.
        func header(_ name: String) -> String? {
            head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }
                .map { String($0.dropFirst(name.count + 2)) }
        }
    }

    let process: RunningProcess
    /// The beginning of the page's addresses.
    let origin: String
    /// The token of the address that was printed first; empty where a password begins sessions.
    let token: String
    /// The session's cookie; empty without a session.
    let cookie: String

    /// Starts `bmo serve`, or another command with a web interface, in a folder and begins a session.
    init(
        in folder: String, _ arguments: [String] = [], environment: [String: String] = [:],
        command: [String] = ["serve"], signsIn: Bool = true
    ) async throws {
        let process = try RunningProcess(
            BuiltCommand.path(), command + arguments, environment: environment, directory: folder)
        self.process = process
        let line = try await eventually("bmo serve prints its address") {
            process.output.firstMatch(of: /open (http:\/\/[^\/]+)\/(?:login\?token=([0-9a-f]+))?\n/).map {
                (origin: String($0.output.1), token: $0.output.2.map(String.init) ?? "")
            }
        }
        (origin, token) = line
        guard signsIn else {
            cookie = ""
            return
        }
        let reply = try await Self.curl(["\(origin)/login?token=\(token)"])
        let set = try #require(reply.header("Set-Cookie"), "\(reply)")
        #expect(reply.status == 303 && reply.header("Location") == "/")
        #expect(set.hasSuffix("; Path=/; HttpOnly; SameSite=Strict"))
        cookie = String(set.prefix { $0 != ";" })
    }

    deinit { process.signal(SIGKILL) }

    func get(_ path: String, _ arguments: String...) async throws -> Reply {
        try await Self.curl(["-b", cookie] + arguments + [origin + path])
    }

    /// Gets a page, which must be there.
    func page(_ path: String, sourceLocation: SourceLocation = #_sourceLocation) async throws -> String {
        let reply = try await get(path)
        #expect(reply.status == 200, "\(reply)", sourceLocation: sourceLocation)
        #expect(!reply.body.contains("<script"), sourceLocation: sourceLocation)
        return reply.body
    }

    /// Sends a form with the session's token.
    func post(_ path: String, _ fields: KeyValuePairs<String, String> = [:], _ arguments: String...) async throws
        -> Reply
    {
        let page = try await get("/runs").body
        let token = try #require(page.firstMatch(of: /name="token" value="([0-9a-f]+)"/), "\(page)").output.1
        return try await Self.curl(
            ["-b", cookie, "--data-urlencode", "token=\(token)"]
                + fields.flatMap { ["--data-urlencode", "\($0.key)=\($0.value)"] } + arguments + [origin + path])
    }

    /// Sends a form that leads to a page, and returns that page.
    func act(
        _ path: String, _ fields: KeyValuePairs<String, String> = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let reply = try await post(path, fields)
        #expect(reply.status == 303, "\(reply)", sourceLocation: sourceLocation)
        return try await page(reply.header("Location") ?? "/")
    }

    static func curl(_ arguments: [String]) async throws -> Reply {
        let run = try await ProcessRun.run("curl", ["-s", "-i", "--max-time", "30", "--path-as-is"] + arguments)
        // Foundation reads CR LF as one character.
        let text = run.output.replacing("\r\n", with: "\n")
        guard let end = text.firstRange(of: "\n\n") else { return Reply(status: 0, head: "\(run)", body: "") }
        let head = text[..<end.lowerBound]
        let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return Reply(
            status: status, head: String(head).replacing("\n", with: "\r\n"), body: String(text[end.upperBound...]))
    }
}

extension String {
    /// Returns the value of the first hidden field with a name in the markup of a page.
    func value(of field: String) -> String? {
        firstRange(of: "name=\"\(field)\" value=\"").map { String(self[$0.upperBound...].prefix { $0 != "\"" }) }
    }
}
