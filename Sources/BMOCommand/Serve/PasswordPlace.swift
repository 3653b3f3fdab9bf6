internal import BMO
internal import Foundation
internal import Model
internal import WebPage

/// Where the password of the page is: the value of `--password`, which is never the password itself.
struct PasswordPlace: Sendable {
    private static let minLength = 12

    private let reference: SecretReference

    /// Parses `env:NAME` or `file:PATH`.
    ///
    /// - Throws: ``CommandFailure`` of wrong usage, which does not repeat the value: it may be a password.
    init(_ text: String) throws {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        switch (parts.first, parts.count) {
        case ("env", 2): reference = .env(parts[1])
        case ("file", 2): reference = .file(parts[1])
        default:
            throw CommandFailure(
                "--password takes env:NAME or file:PATH; a password on the command line is visible to other users",
                exitCode: CommandFailure.usage)
        }
    }

    /// Reads the password, which is followed: its file may be replaced.
    ///
    /// - Throws: As ``read()`` does.
    func followed() throws -> FollowedSecret {
        try FollowedSecret(
            reference, in: FileManager.default.currentDirectoryPath,
            warn: { Terminal.error($0, prefix: "bmo: warning: ") }, read: read)
    }

    /// Reads the password, and removes its variable from the environment.
    ///
    /// - Throws: ``CommandFailure`` of wrong usage if it is missing or short.
    @Sendable private func read() throws -> String {
        let secret: String
        do {
            secret = try reference.resolve(
                relativeTo: FileManager.default.currentDirectoryPath, environment: Workspace.environment)
        } catch {
            throw CommandFailure(
                "the password of --password: \(error.description)", exitCode: CommandFailure.usage)
        }
        if case .env(let name) = reference { Workspace.takeSecrets([name]) }
        guard secret.count >= Self.minLength else {
            throw CommandFailure(
                "the password of --password is shorter than \(Self.minLength) characters",
                exitCode: CommandFailure.usage)
        }
        return secret
    }
}
