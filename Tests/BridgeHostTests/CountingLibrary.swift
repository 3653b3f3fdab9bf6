import Glibc
import Logging
import RecordBatch
import Synchronization
import TestSupport
import Testing

@testable import BridgeHost

/// Compiles Tests/CountingBridge at run time, as a stranger compiles a bridge.
enum CountingLibrary {
    private static let built = Mutex<[[String]: String]>([:])

    /// The library built with these definitions, in a folder of this process.
    static func build(_ definitions: [String] = []) throws -> String {
        try built.withLock { built in
            if let path = built[definitions] { return path }
            let folder = try TemporaryFolder.make()
            let path = "\(folder)/libCountingBridge.so"
            let source = "\(packageFolder)/Tests/CountingBridge/counting_bridge.c"
            try compile(source, to: path, definitions)
            built[definitions] = path
            return path
        }
    }

    /// Compiles a plugin in C with every warning as an error.
    static func compile(
        _ source: String, to path: String, _ definitions: [String] = [], linking libraries: [String] = []
    ) throws {
        let arguments =
            [
                "cc", "-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-g",
                "-I\(packageFolder)/Sources/CBridge/include", "-o", path, source,
            ] + definitions.map { "-D\($0)" } + libraries
        try #require(run(arguments) == 0, "cc failed")
    }

    static var packageFolder: String {
        #filePath.components(droppingLast: 3)
    }

    /// The executable that serves bridges.
    static var testHost: String { Products.folder + "/TestHost" }

    private static func run(_ arguments: [String]) -> CInt {
        var pid: pid_t = 0
        var argv = arguments.map { strdup($0) } + [nil]
        defer { for text in argv { free(text) } }
        guard posix_spawnp(&pid, arguments[0], nil, nil, &argv, environ) == 0 else { return -1 }
        var status: CInt = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status
    }
}

extension String {
    /// This path without its last components.
    fileprivate func components(droppingLast count: Int) -> String {
        "/" + split(separator: "/").dropLast(count).joined(separator: "/")
    }
}

/// A folder of one test.
///
/// All of them are removed when the tests end: a connection may need its plugin again.
struct TemporaryFolder {
    let path: String

    init() throws { path = try Self.make() }

    private static let root: String? = {
        var template = Array("/tmp/bmo-host-tests-XXXXXX".utf8CString)
        guard let path = mkdtemp(&template) else { return nil }
        atexit { if let root = TemporaryFolder.root { FolderRemoval.remove(root) } }
        return String(cString: path)
    }()

    static func make() throws -> String {
        var template = Array("\(try #require(root))/XXXXXX".utf8CString)
        let path = try #require(mkdtemp(&template))
        return String(cString: path)
    }

    /// Copies a file in under a name; returns the path.
    @discardableResult
    func copy(_ source: String, as name: String, bytes limit: Int? = nil) throws -> String {
        try write(Self.read(source, limit), as: name)
    }

    @discardableResult
    func write(_ bytes: [UInt8], as name: String) throws -> String {
        let target = "\(path)/\(name)"
        let file = open(target, O_WRONLY | O_CREAT | O_TRUNC, 0o755)
        try #require(file >= 0)
        defer { close(file) }
        try #require(Glibc.write(file, bytes, bytes.count) == bytes.count)
        return target
    }

    static func text(_ path: String) throws -> String { String(decoding: try read(path, nil), as: UTF8.self) }

    static func bytes(_ path: String) throws -> [UInt8] { try read(path, nil) }

    private static func read(_ path: String, _ limit: Int?) throws -> [UInt8] {
        let file = open(path, O_RDONLY)
        try #require(file >= 0)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: limit ?? Int(lseek(file, 0, SEEK_END)))
        try #require(pread(file, &bytes, bytes.count, 0) == bytes.count)
        return bytes
    }
}

/// A host that finds one counting bridge.
struct CountingHost {
    let folder: TemporaryFolder
    let path: String
    let host: BridgeHost
    let lines: LogLines

    init(_ definitions: [String] = [], change: (inout BridgeLimits) -> Void = { _ in }) throws {
        folder = try TemporaryFolder()
        path = try folder.copy(try CountingLibrary.build(definitions), as: "libCountingBridge.so")
        var limits = BridgeLimits()
        limits.retries.base = .milliseconds(10)
        change(&limits)
        lines = LogLines()
        host = BridgeHost(
            searchPaths: [SearchPath(folder.path)], executable: CountingLibrary.testHost, logger: lines.logger,
            limits: limits)
    }

    func connect(
        _ isolation: PluginListing.Isolation, options: Literal = [:], secrets: [String] = []
    ) async throws -> BridgeConnection {
        try await host.connect(
            to: try await host.plugin(named: "counting"), options: try batch(options), name: "numbers",
            secrets: secrets, isolation: isolation)
    }
}

/// A batch of one object.
func batch(_ object: Literal) throws -> RecordBatch { try Literal.batch([object]) }

func request(
    _ section: Literal = [:], cursor: String? = nil, pageSize: Int? = nil
) throws -> FetchRequest {
    FetchRequest(entity: "Number", section: try batch(section), cursor: cursor, pageSize: pageSize)
}

/// Scans to the end and returns the ids.
func ids(_ stream: RecordStream) async throws -> [Int64] {
    var ids: [Int64] = []
    while let batch = try await stream.next() { ids += batch.ids }
    await stream.close()
    return ids
}

extension FetchedBatch {
    var ids: [Int64] {
        guard let records else { return [] }
        return withExtendedLifetime(records) { (0..<records.count).compactMap { records[$0]["id"]?.integer } }
    }
}

/// The failure that `body` throws.
func failure(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async throws -> BridgeFailure {
    do {
        try await body()
    } catch let failure as BridgeFailure {
        return failure
    }
    Issue.record("nothing was thrown", sourceLocation: sourceLocation)
    throw CancellationError()
}
