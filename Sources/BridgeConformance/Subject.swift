internal import StoreContract
internal import BMO
internal import BridgeHost
internal import Logging
internal import Mapping
internal import Model
internal import RecordBatch
internal import SystemCalls

/// The bridge under test, with the data that the checks need.
struct Subject: Sendable {
    let workspace: Workspace
    let bridge: BridgeConfiguration
    let plugin: PluginListing
    let settings: ConformanceSettings
    let spy: LogSpy
    /// The values of the secret options.
    let secrets: [String]
    private let options: RecordBatch
    /// A user info that no bridge knows.
    static let unknownUserInfo = BridgeOptions { writer in
        writer.member("bmo_conformance", object: { writer.member("level", 2) })
    }

    init(_ settings: ConformanceSettings, host: BridgeHost, stores: any StoreProvider, spy: LogSpy) async throws {
        workspace = try await Workspace.load(path: settings.config, host: host, stores: stores)
        let bridges = workspace.configuration.bridges
        let named = settings.bridge.map { name in bridges.first { $0.name == name } } ?? bridges.first
        guard let bridge = named, settings.bridge != nil || bridges.count == 1 else {
            throw ConformanceSettings.Fault(
                description: "\(settings.config): name one of its bridges under `bridge:`: "
                    + bridges.map(\.name).joined(separator: ", "))
        }
        guard let plugin = workspace.plugins[bridge.plugin] else {
            throw ConformanceSettings.Fault(description: "there is no plugin `\(bridge.plugin)`")
        }
        self.bridge = bridge
        self.plugin = plugin
        self.settings = settings
        self.spy = spy
        var encoder = ConfigEncoder(directory: workspace.configuration.directory)
        options = try encoder.batch(bridge.options)
        secrets = encoder.secrets
    }

    /// Returns the entities that the bridge lists independently of a parent.
    func entities() throws -> [Entity] {
        let own = workspace.configuration.model.entities.filter {
            $0.bridge == bridge.name && $0.isScanned && $0.parent == nil
        }
        guard !own.isEmpty else { throw NotApplicable("the config has no entity that this bridge lists by itself") }
        return own
    }

    /// Opens an instance in a child process; its messages are not redacted.
    func connect(changing changes: [String: String] = [:], memory: Int? = nil) async throws -> BridgeConnection {
        let options = try changes.isEmpty ? options : Self.merged(options, changes)
        return try await workspace.host.connect(
            to: plugin, options: options, name: bridge.name, isolation: .childProcess, memory: memory)
    }

    private static func merged(_ options: RecordBatch, _ changes: [String: String]) throws -> RecordBatch {
        let writer = RecordBatchWriter()
        writer.object { write(options[0].members, changes, to: writer) }
        return try writer.finish()
    }

    /// Writes members with other values; a dot in a name leads into an object, whose other members stay.
    private static func write(
        _ members: [(key: String, value: BatchValue)], _ changes: [String: String], to writer: RecordBatchWriter
    ) {
        var inner: [Substring: [String: String]] = [:]
        for (name, value) in changes {
            guard let dot = name.firstIndex(of: ".") else { continue }
            inner[name[..<dot], default: [:]][String(name[name.index(after: dot)...])] = value
        }
        for (name, value) in members where changes[name] == nil && inner[name[...]] == nil {
            writer.key(name)
            writer.copy(value)
        }
        for (name, value) in changes where !name.contains(".") { writer.member(name, value) }
        for (name, changes) in inner {
            let old = members.first { $0.key == name }?.value
            writer.member(String(name), object: { write(old?.members ?? [], changes, to: writer) })
        }
    }

    func request(_ entity: Entity) throws -> FetchRequest {
        var encoder = ConfigEncoder(directory: workspace.configuration.directory)
        return FetchRequest(entity: entity.name, section: try encoder.batch(entity.section))
    }

    /// Scans from the request's cursor to the end.
    func scan(_ connection: BridgeConnection, _ request: FetchRequest) async throws -> Scan {
        let stream = try await connection.fetch(request)
        var scan = Scan()
        do {
            while let fetched = try await stream.next() {
                try scan.add(fetched)
                try require(scan.records.count <= 1_000_000, "more than 1,000,000 records: an endless listing?")
            }
        } catch {
            await stream.close()
            throw error
        }
        await stream.close()
        return scan
    }

    /// Opens an instance, scans from the request's cursor to the end and closes it.
    func scan(_ request: FetchRequest) async throws -> Scan {
        let connection = try await connect()
        return try await connection.closing { try await scan(connection, request) }
    }

    /// Opens an instance, scans an entity and closes it.
    func read(_ entity: Entity) async throws -> Scan { try await scan(try request(entity)) }

    func mapper() -> Mapper { Mapper(workspace.model) }
}

/// The result of a scan.
struct Scan {
    /// The records as JSON, in order.
    var records: [String] = []
    /// The end of each page: its cursor, and the number of records up to there.
    var pages: [(cursor: String?, count: Int)] = []
    var batches: [RecordBatch] = []
    var last: PageInfo?
    /// All texts from the bridge other than records.
    var words: [String] = []

    mutating func add(_ fetched: FetchedBatch) throws {
        if let batch = fetched.records {
            for index in 0..<batch.count { records.append(batch.json(index)) }
            batches.append(batch)
        }
        let page = fetched.page
        words += page.warnings + [page.location, page.metadata, page.cursor, page.token].compactMap { $0 }
        words += page.rejected.flatMap { [$0.reason, $0.representation] }
        if page.pageEnd { pages.append((page.cursor, records.count)) }
        last = page
    }
}

/// Keeps the host's log for the checks.
final class LogSpy: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    var logger: Logger {
        var logger = Logger(label: "conformance") { _ in
            FunctionLogHandler(logLevel: .trace) { event, _ in
                let facts = (event.metadata ?? [:]).map { "\($0)=\($1)" }.sorted().joined(separator: " ")
                self.lines.withLock { $0.append("\(event.message) \(facts)") }
            }
        }
        logger.logLevel = .trace
        return logger
    }
}
