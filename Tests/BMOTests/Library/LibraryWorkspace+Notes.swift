import BMO
import BridgeKit
import RESTBridge
import StoreContract
import TestSupport

/// A database of notes and topics.
extension LibraryWorkspace where Remote == NoteServer {
    /// - Parameter style: How the server behaves; the first part of its paths.
    static func notes(style: String = "plain") throws -> LibraryWorkspace {
        try LibraryWorkspace { _ in try NoteServer(style: style) }
    }

    /// A manager over the database; several may follow each other.
    ///
    /// - Parameters:
    ///   - url: The URL of another server than this one.
    ///   - conflicts: Whose version of a note counts.
    func manager(
        url: String? = nil, match: String = "match: [text]", timeout: Int = 5, conflicts: String = "manual",
        options: RequestManager.Options = .init()
    ) async throws -> RequestManager {
        try folder.write(
            server.configuration(url: url, timeout: timeout, match: match, more: "conflicts: \(conflicts)"),
            to: "bmo.yml")
        return try await RequestManager(
            config: folder.appending("bmo.yml"), stores: stores, bridges: [BridgeExport(RESTBridge.self)],
            options: options)
    }

    /// The states of what is in the outbox.
    func outbox(_ manager: RequestManager) throws -> [OutboxEntry.State] {
        let store = try manager.workspace.openStore()
        defer { try? store.close() }
        return try store.outbox().map(\.state)
    }
}
