internal import BridgeHost
internal import Importer
package import Mapping
internal import Model
internal import RecordBatch
package import StoreContract

extension Workspace {
    /// The values that would be sent for an edit.
    package struct PendingRequest: Sendable {
        /// The edit.
        package let entry: OutboxEntry
        /// The values in the remote's shape; nil where they have none.
        package let values: OutgoingValue?
        /// Why it could not be sent.
        package let fault: String?
        /// What it waits for, so that a push would not send it now; nil where it would.
        package fileprivate(set) var waits: String?
        /// The time of its next try, as ISO 8601, if that has not come.
        package fileprivate(set) var next: String?
        /// The batch that asks the bridge for its request; nil where the bridge cannot explain it.
        fileprivate(set) var question: RecordBatch?
        fileprivate(set) var bridge = ""

        init(entry: OutboxEntry, values: OutgoingValue?, fault: String?) {
            self.entry = entry
            self.values = values
            self.fault = fault
        }
    }

    /// A bridge's description of the request that it would send for an edit.
    package struct PlannedRequest: Sendable {
        /// The request line, such as `POST http://h/service`.
        package var request: String
        package var body: String
        /// An obstacle to sending it.
        package var warning: String?
        /// Why the bridge would not send it, or cannot describe it.
        package var failure: String?
        /// Whether the edit would be rejected unchanged.
        package var isRefused = false
    }

    /// Asks the capable bridges to describe their requests; they may read from the remote for that, and change nothing.
    ///
    /// - Returns: The requests by the numbers of their outbox entries.
    package func plannedRequests(of requests: [PendingRequest]) async -> [Int64: PlannedRequest] {
        var planned: [Int64: PlannedRequest] = [:]
        let connections = Connections(self)
        for request in requests {
            guard let question = request.question, request.fault == nil else { continue }
            do {
                let connection = try await connections.connection(for: request.bridge)
                guard let batch = try await connection.write(question), batch.count > 0 else { continue }
                planned[request.entry.id] = withExtendedLifetime(batch) {
                    PlannedRequest(
                        request: batch[0]["request"]?.text ?? "", body: batch[0]["body"]?.text ?? "",
                        warning: batch[0]["warning"]?.text)
                }
            } catch {
                var plan = PlannedRequest(request: "", body: "", failure: "\(error)")
                let code = (error as? BridgeFailure)?.code
                plan.isRefused = code == .configuration || code == .unsupported
                planned[request.entry.id] = plan
            }
        }
        await connections.close()
        return planned
    }

    /// Returns the requests of a push in order, without connecting to anything.
    ///
    /// - Throws: ``StoreError``.
    package func pendingRequests(of entities: [String]?, in store: any Store) throws -> [PendingRequest] {
        try pendingRequests(of: entities, in: store, limit: nil).requests
    }

    /// Returns the first requests of a push in order, and the number of all.
    ///
    /// - Parameter limit: The number of requests to make; nil for all.
    /// - Throws: ``StoreError``.
    func pendingRequests(
        of entities: [String]?, in store: any Store, limit: Int?
    ) throws -> (requests: [PendingRequest], total: Int) {
        let names = entities.map { model.model.names(under: $0) }
        let all = try store.outbox()
        let meant = all.filter { entry in
            names?.contains(entry.entity) != false && entry.state != .refused && entry.state != .conflict
        }
        var requests = try meant.prefix(limit ?? meant.count).map { try pendingRequest(of: $0, in: store) }
        noteWaits(of: &requests, among: all)
        return (requests, meant.count)
    }

    private func pendingRequest(of entry: OutboxEntry, in store: any Store) throws -> PendingRequest {
        guard let index = model.index(of: entry.entity) else {
            return PendingRequest(
                entry: entry, values: nil, fault: "the configuration has no entity \(entry.entity)")
        }
        if let fault = obstacle(to: entry) { return PendingRequest(entry: entry, values: nil, fault: fault) }
        do {
            let bridge = model.model.scanned(model.model.entities[index]).bridge
            let isExplained = can("plan_write", bridge)
            let request = try PushRequest(entry, index, in: self, store, explains: isExplained)
            var pending = PendingRequest(entry: entry, values: request.values, fault: nil)
            pending.bridge = bridge
            if isExplained { pending.question = request.batch }
            return pending
        } catch let refusal as OutgoingPlan.Refusal {
            return PendingRequest(entry: entry, values: nil, fault: refusal.description)
        } catch let error as SecretError {
            return PendingRequest(entry: entry, values: nil, fault: error.message)
        }
    }

    /// Notes what the edits wait for that a push would not send now.
    private func noteWaits(of requests: inout [PendingRequest], among all: [OutboxEntry]) {
        let listed = Set(requests.map(\.entry.id))
        let faulty = Set(requests.filter { $0.fault != nil }.map(\.entry.id))
        var waits = PendingWaits(all, in: model) { entry in
            listed.contains(entry.id) ? faulty.contains(entry.id) : obstacle(to: entry) != nil
        }
        for place in requests.indices where requests[place].entry.state == .pending && requests[place].fault == nil {
            let reason = waits.reason(for: requests[place].entry)
            requests[place].waits = reason?.words
            requests[place].next = reason?.next
        }
    }
}
