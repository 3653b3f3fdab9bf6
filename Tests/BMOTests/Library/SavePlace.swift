import BMO
import BridgeKit
import Foundation
import RESTBridge
import StoreContract
import StoreTestSupport
import TestSupport

/// A database of notes and topics, and the server of Fixtures/rest/objects.py that has them.
final class SavePlace: Sendable {
    let server: ServerProcess
    let folder: TemporaryFolder
    let style: String
    /// The store of the suite, or SQLite.
    let stores: any StoreProvider = StoreKind.current.provider()

    /// - Parameter style: How the server behaves; the first part of its paths.
    init(style: String = "plain") throws {
        server = try ServerProcess(script: "objects.py")
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
            """
            version: 1
            bridges: {api: {plugin: rest, options: {url: "\(url ?? server.url)", timeout: \(timeout)}}}
            entities:
              Note:
                bridge: api
                key: id
                writable: true
                \(match)
                conflicts: \(conflicts)
                read_one: {path: "/\(style)/notes/{parent.id}", header_fields: {etag: etag}}
                attributes:
                  id: {type: integer, write: false}
                  text: text
                  city: {type: text, from: address.city}
                  etag: {type: text, write: false}
                relationships: {topic: {to: Topic}, tags: {many: Topic}}
                rest:
                  path: /\(style)/notes
                  records: $
                  paging: none
                  write: {create: {}, update: {format: merge_patch}, delete: {}, if_match: etag, etag_field: etag}
              Topic:
                bridge: api
                key: id
                writable: true
                match: [name]
                attributes: {id: {type: integer, write: false}, name: text}
                rest: {path: /\(style)/topics, records: $, paging: none, write: {create: {}, update: {}, delete: {}}}
            """, to: "bmo.yml")
        return try await RequestManager(
            config: folder.appending("bmo.yml"), stores: stores, bridges: [BridgeExport(RESTBridge.self)],
            options: options)
    }

    /// What the server has, as curl reads it.
    func remote(_ path: String = "notes") async throws -> String { try await curl(path) }

    /// Asks the server by curl.
    func curl(_ path: String, _ arguments: String...) async throws -> String {
        let options = ["-s", "--max-time", "10"] + arguments
        return try await ProcessRun.run("curl", options + ["\(server.url)/\(style)/\(path)"]).output
    }

    /// Changes a note behind bmo's back.
    func change(_ id: Int, _ json: String) async throws {
        _ = try await ProcessRun.run(
            "curl",
            [
                "-s", "--max-time", "10", "-X", "PATCH", "-H", "Content-Type: application/json", "-d", json,
                "\(server.url)/\(style)/notes/\(id)",
            ])
    }

    /// The states of what is in the outbox.
    func outbox(_ manager: RequestManager) throws -> [OutboxEntry.State] {
        let store = try manager.workspace.openStore()
        defer { try? store.close() }
        return try store.outbox().map(\.state)
    }
}
