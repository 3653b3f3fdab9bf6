public import BridgeKit
public import Model
internal import SystemCalls

/// A remote in memory for the tests of an app: it has the objects that a test gives it, takes writes, says what it was
/// asked, and fails on demand.
///
/// ```swift
/// let remote = ScriptedRemote()
/// remote["Note"] = [["id": 1, "title": "milk"]]
/// let manager = try await RequestManager.testing(config: "bmo.yml", remote: remote)
/// ...
/// remote.isReachable = false
/// ```
///
/// It stands in for the bridges of a configuration, whatever their plugins: see ``bridges(_:)``. Records have the shape
/// that the remote's have, before the configuration maps them. Safe to use from any thread.
public final class ScriptedRemote: Sendable {
    /// A request that the remote received.
    public struct Request: Sendable, Equatable, CustomStringConvertible {
        /// The kind of request.
        public enum Operation: String, Sendable {
            /// Records are read.
            case fetch
            /// A new object is sent.
            case create
            /// Changes of an object are sent.
            case update
            /// An object is deleted.
            case delete
        }

        /// The kind of request.
        public var operation: Operation
        /// The entity's name in the configuration.
        public var entity: String
        /// For a fetch: the conditions that the remote was asked to apply, such as `title = milk`.
        public var conditions: [String] = []
        /// For a fetch: the cursor of the page that it continues from.
        public var cursor: String?
        /// What the request says to the bridge; an empty object without anything.
        public var userInfo: ConfigValue = [:]
        /// For a fetch: the parameters of this request alone; an empty object without any.
        public var parameters: ConfigValue = [:]
        /// For a fetch by parent: the parent's values by their local names; an empty object for others.
        public var parent: ConfigValue = [:]
        /// For a fetch: the paths of the values that are needed, with dots; nil for any value.
        public var fields: [String]?
        /// For a write: the key's values by their local names.
        public var key: ConfigValue = [:]
        /// For a write: the values that are sent, in the remote's shape.
        public var values: ConfigValue = [:]

        /// A line such as `fetch Note where title = milk with {"lang":"fr"} for {"screen":"search"}` (parameters and user
        /// info) or `update Note {"id":1} {"title":"bread"}`.
        public var description: String {
            var words = [operation.rawValue, entity]
            if !conditions.isEmpty { words.append("where \(conditions.joined(separator: ", "))") }
            if parameters.members?.isEmpty == false { words.append("with \(parameters.testText)") }
            if userInfo.members?.isEmpty == false { words.append("for \(userInfo.testText)") }
            if let cursor { words.append("from \(cursor)") }
            if operation == .update || operation == .delete { words.append(key.testText) }
            if operation == .create || operation == .update { words.append(values.testText) }
            return words.joined(separator: " ")
        }
    }

    /// A failure for the next requests.
    private struct Failure {
        var error: BridgeError
        var operation: Request.Operation?
        var left: Int
    }

    private struct State {
        var records: [String: [ConfigValue]] = [:]
        var requests: [Request] = []
        var failures: [Failure] = []
        var handler: (@Sendable (Request) throws(BridgeError) -> Void)?
        var isReachable = true
        var pageSize = 100
        var keys: [String: String] = [:]
        var lastKey: Int64 = 0
    }

    private let state = Mutex(State())

    /// What happens to a request.
    private struct Verdict {
        var failure: BridgeError?
        var handler: (@Sendable (Request) throws(BridgeError) -> Void)?
    }

    /// Creates a remote without objects.
    public init() {}

    // MARK: what it has

    /// The records of an entity, in the order in which the remote lists them.
    public subscript(entity: String) -> [ConfigValue] {
        get { state.withLock { $0.records[entity] ?? [] } }
        set { state.withLock { $0.records[entity] = newValue } }
    }

    /// Whether requests arrive; if not, each one fails as `unreachable`.
    public var isReachable: Bool {
        get { state.withLock { $0.isReachable } }
        set { state.withLock { $0.isReachable = newValue } }
    }

    /// How many records a page has, unless the request says so; 100 by default.
    public var pageSize: Int {
        get { state.withLock { $0.pageSize } }
        set { state.withLock { $0.pageSize = max(1, newValue) } }
    }

    /// Sets the member of an entity's records that identifies them; `id` by default.
    ///
    /// A created record without this member gets the next integer.
    public func identify(_ entity: String, by member: String) { state.withLock { $0.keys[entity] = member } }

    // MARK: how it fails

    /// Makes the next requests fail.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: The remote's own words.
    ///   - operation: The kind of request; nil for any.
    ///   - times: How many requests fail.
    public func fail(
        _ code: BridgeError.Code, _ message: String = "the test lets it fail", on operation: Request.Operation? = nil,
        times: Int = 1
    ) {
        let error = BridgeError(code, message)
        state.withLock { $0.failures.append(Failure(error: error, operation: operation, left: times)) }
    }

    /// Calls a closure with each request before it is answered, such as to change the records or to throw an error.
    public func onRequest(_ handler: (@Sendable (Request) throws(BridgeError) -> Void)?) {
        state.withLock { $0.handler = handler }
    }

    // MARK: what it was asked

    /// The requests so far.
    public var requests: [Request] { state.withLock { $0.requests } }

    /// Returns the requests since the last call.
    public func takeRequests() -> [Request] {
        state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    // MARK: the bridge's side

    /// Notes a request, and throws its failure if it has one.
    func receive(_ request: Request) throws(BridgeError) {
        let verdict = state.withLock { state -> Verdict in
            state.requests.append(request)
            guard state.isReachable else {
                return Verdict(failure: BridgeError(.unreachable, "the scripted remote is not reachable"))
            }
            let matches = { (failure: Failure) in failure.operation == nil || failure.operation == request.operation }
            guard let index = state.failures.firstIndex(where: matches) else { return Verdict(handler: state.handler) }
            let error = state.failures[index].error
            state.failures[index].left -= 1
            if state.failures[index].left <= 0 { state.failures.remove(at: index) }
            return Verdict(failure: error)
        }
        if let failure = verdict.failure { throw failure }
        try verdict.handler?(request)
    }

    /// Creates a record, and returns it with its key.
    func create(_ entity: String, _ values: ConfigValue) -> ConfigValue {
        state.withLock { state in
            let key = state.keys[entity] ?? "id"
            var record = values
            if record[key] == nil || record[key] == .null {
                let known = (state.records[entity] ?? []).compactMap { $0[key]?.int }.max() ?? 0
                state.lastKey = max(state.lastKey, known) + 1
                record = record.setting(key, .int(state.lastKey))
            }
            state.records[entity, default: []].append(record)
            return record
        }
    }

    /// Updates the record with a key, and returns it.
    ///
    /// - Parameter key: The values of the key, by their paths in the record.
    func update(
        _ entity: String, _ key: [(path: [String], value: ConfigValue)], _ values: ConfigValue
    ) throws(BridgeError) -> ConfigValue {
        let record = state.withLock { state -> ConfigValue? in
            guard let index = state.records[entity]?.firstIndex(where: { $0.has(key) }) else { return nil }
            let merged = state.records[entity]?[index].merging(values)
            if let merged { state.records[entity]?[index] = merged }
            return merged
        }
        if let record { return record }
        throw BridgeError(.notFound, "the scripted remote has no such \(entity)")
    }

    /// Deletes the record with a key.
    func delete(_ entity: String, _ key: [(path: [String], value: ConfigValue)]) throws(BridgeError) {
        let isGone = state.withLock { state -> Bool in
            guard let index = state.records[entity]?.firstIndex(where: { $0.has(key) }) else { return false }
            state.records[entity]?.remove(at: index)
            return true
        }
        if !isGone { throw BridgeError(.notFound, "the scripted remote has no such \(entity)") }
    }
}
