internal import BMO
internal import Foundation
internal import StoreContract

/// The database of a single check.
struct TemporaryStore {
    let store: any Store
    private let folder: URL

    fileprivate init(_ workspace: Workspace) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("bmo-conformance-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        store = try workspace.stores.open(
            folder.appendingPathComponent("check.sqlite").path, model: workspace.model, for: .writing)
    }

    func remove() {
        try? store.close()
        try? FileManager.default.removeItem(at: folder)
    }
}

extension Subject {
    func temporaryStore() throws -> TemporaryStore { try TemporaryStore(workspace) }
}
