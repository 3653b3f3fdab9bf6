public import BridgeKit
internal import Model
internal import SystemCalls

extension ScriptedRemote {
    /// Returns bridges that ask this remote, under the names of plugins.
    ///
    /// Pass them to a manager in place of the real ones. They accept any options and sections, so that a test uses the
    /// configuration of the app.
    public func bridges(_ plugins: String...) -> [any LinkedBridge] { plugins.map(bridge) }

    func bridge(_ plugin: String) -> any LinkedBridge {
        let descriptor = BridgeDescriptor(
            name: plugin, version: "1.0", summary: "Answers as a test scripts", optionsSchema: "{}", entitySchema: "{}",
            isConcurrent: true,
            capabilities: [
                .check, .fetch, .resume, .filter, .incremental, .parent, .create, .update, .delete, .userInfo,
                .parameters,
            ])
        return BridgeExport(descriptor) { _, _ in ScriptedBridge(self, descriptor) }
    }
}

/// Asks a ``ScriptedRemote``.
final class ScriptedBridge: Bridge {
    static var descriptor: BridgeDescriptor {
        BridgeDescriptor(
            name: "scripted", version: "1.0", summary: "Answers as a test scripts", optionsSchema: "{}",
            entitySchema: "{}", capabilities: [.fetch])
    }

    private let remote: ScriptedRemote

    init(_ remote: ScriptedRemote, _ descriptor: BridgeDescriptor) { self.remote = remote }

    init(options: BridgeOptions, context: BridgeContext) throws {
        throw BridgeError(.configuration, "a scripted bridge needs its remote")
    }

    func check() throws -> String? {
        if remote.isReachable { return "a scripted remote" }
        throw BridgeError(.unreachable, "the scripted remote is not reachable")
    }

    func fetch(_ request: FetchRequest) throws -> any RecordSource {
        // The same conditions go with each page of a fetch, but only the first one is a request of its own.
        var received = ScriptedRemote.Request(operation: .fetch, entity: request.entity)
        received.conditions = request.filters.map {
            "\($0.attribute) \($0.comparison.rawValue) \($0.value ?? "null")"
        }
        received.cursor = request.cursor
        if let info = request.userInfo { received.userInfo = ConfigValue(info) }
        if let parameters = request.parameters { received.parameters = ConfigValue(parameters) }
        if let parent = request.parent { received.parent = ConfigValue(parent) }
        received.fields = request.fieldPaths.map { $0.map { $0.joined(separator: ".") } }
        try remote.receive(received)
        return ScriptedSource(remote, request)
    }

    func write(_ request: WriteRequest, into writer: RecordBatchWriter) throws {
        let key = ConfigValue(request.key)
        let values = ConfigValue(request.values)
        let paths = (key.members ?? []).map { member in
            (path: request.keyPaths[member.key] ?? [member.key], value: member.value)
        }
        var received = ScriptedRemote.Request(operation: .delete, entity: request.entity, key: key)
        switch request.operation {
        case .create: received = .init(operation: .create, entity: request.entity, values: values)
        case .update: received = .init(operation: .update, entity: request.entity, key: key, values: values)
        case .delete: break
        }
        if let info = request.userInfo { received.userInfo = ConfigValue(info) }
        try remote.receive(received)
        switch request.operation {
        case .create: remote.create(request.entity, values).write(to: writer)
        case .update: try remote.update(request.entity, paths, values).write(to: writer)
        case .delete: try remote.delete(request.entity, paths)
        }
    }
}

/// Brings the records of an entity that meet the conditions of equality; the host applies the others.
private final class ScriptedSource: RecordSource {
    private let records: [ConfigValue]
    private let pushed: [Int]
    private let pageSize: Int
    private var offset: Int

    init(_ remote: ScriptedRemote, _ request: FetchRequest) {
        let pushed = request.filters.indices.filter { request.filters[$0].comparison == .equal }
        let wanted = pushed.map { request.filters[$0] }
        records = remote[request.entity].filter { record in
            wanted.allSatisfy { filter in
                let value = filter.path.split(separator: ".").reduce(Optional(record)) { $0?[String($1)] }
                return value?.plainText == filter.value
            }
        }
        self.pushed = pushed
        pageSize = max(1, request.pageSize ?? remote.pageSize)
        offset = max(0, request.cursor.flatMap { Int($0) } ?? 0)
    }

    func next(into writer: RecordBatchWriter) throws -> Page {
        let end = records.count - offset > pageSize ? offset + pageSize : records.count
        if offset < end { for record in records[offset..<end] { record.write(to: writer) } }
        offset = max(offset, end)
        let isEnd = offset >= records.count
        var page = Page(
            cursor: isEnd ? nil : String(offset), isPageEnd: true, isEnd: isEnd, isComplete: isEnd,
            total: Int64(records.count), location: "scripted remote")
        page.pushed = pushed
        return page
    }

    func cancel() {}
}
