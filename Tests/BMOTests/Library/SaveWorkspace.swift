import BMO
import BridgeKit
import Foundation
import RESTBridge
import StoreContract
import StoreTestSupport
import TestSupport

/// A database of notes and topics, and the server of Fixtures/rest/objects.py that has them.
final class SaveWorkspace: NoteRemote, Sendable {
    let server: RemoteServer
    let folder: TemporaryFolder
    let style: String
    /// The store of the suite, or SQLite.
    let stores: any StoreProvider = StoreKind.current.provider()

    /// - Parameter style: How the server behaves; the first part of its paths.
    init(style: String = "plain") throws {
        server = try RemoteServer.fixture("objects.py")
        folder = try TemporaryFolder()
        self.style = style
    }

    /// A manager over the database; several may follow each other.
    ///
    /// - Parameters:
    ///   - url: Another server than the place's own.
    ///   - conflicts: Whose version of a note counts.
    func manager(
        url: String? = nil, match: String = "match: [text]", timeout: Int = 5, conflicts: String = "manual",
        options: RequestManager.Options = .init()
    ) async throws -> RequestManager {
        try folder.write(
            configuration(url: url, timeout: timeout, match: match, more: "conflicts: \(conflicts)"), to: "bmo.yml")
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
