internal import Importer
package import Mapping
internal import Model
package import SQLiteStore

extension Workspace {
    /// What would be sent for an edit.
    package struct PendingRequest: Sendable {
        /// The edit.
        package let entry: OutboxEntry
        /// The values in the remote's shape; nil where they have none.
        package let values: OutgoingValue?
        /// Why it could not be sent.
        package let fault: String?
    }

    /// What a push would send, in its order; nothing is connected.
    ///
    /// - Throws: ``StoreError``.
    package func pendingRequests(of entities: [String]?, in store: SQLiteStore) throws -> [PendingRequest] {
        let names = entities.map { model.model.names(under: $0) }
        return try store.outbox().filter { entry in
            names?.contains(entry.entity) != false && entry.state != .refused && entry.state != .conflict
        }.map { entry in
            guard let index = model.index(of: entry.entity) else {
                return PendingRequest(
                    entry: entry, values: nil, fault: "the configuration has no entity \(entry.entity)")
            }
            if let fault = obstacle(to: entry) { return PendingRequest(entry: entry, values: nil, fault: fault) }
            do {
                let request = try PushRequest(entry, index, in: self, store)
                return PendingRequest(entry: entry, values: request.values, fault: nil)
            } catch let refusal as OutgoingPlan.Refusal {
                return PendingRequest(entry: entry, values: nil, fault: refusal.description)
            } catch let error as SecretError {
                return PendingRequest(entry: entry, values: nil, fault: error.message)
            }
        }
    }
}
