import BridgeTestSupport
import Glibc
import SystemCalls
import TestSupport
import Testing

@testable import BridgeHost

/// What hosts keep of plugins on the standard paths: the plugin notes each process that loads it.
@Suite struct DescriptionCacheTests {
    private let folder: TemporaryFolder
    private let cache: TemporaryFolder
    private var log: String { "\(folder.path)/loads" }
    private var path: String { "\(folder.path)/libCountingBridge.so" }

    init() throws {
        folder = try TemporaryFolder(staysUntilExit: true)
        cache = try TemporaryFolder(staysUntilExit: true)
        try put()
    }

    private func put(_ definitions: [String] = []) throws {
        try folder.copy(
            try CompiledBridge.counting(["COUNTING_LOAD_LOG=\"\(log)\""] + definitions), as: "libCountingBridge.so")
    }

    private func loads() throws -> Int {
        access(log, F_OK) == 0 ? try TemporaryFolder.text(log).split(separator: "\n").count : 0
    }

    /// A host that has just begun.
    private func host(
        origin: SearchPath.Origin = .shipped, in cacheFolder: String? = nil, settling: Duration = .zero
    ) -> BridgeHost {
        let executable = Products.testHost
        return BridgeHost(
            searchPaths: [SearchPath(folder.path, origin: origin)], executable: executable,
            logger: LogLines().logger, limits: BridgeLimits(), pins: nil, linked: [],
            cache: DescriptionCache(cacheFolder ?? cache.path, executable: executable, settling: settling))
    }

    /// What a host that has just begun says of the plugin.
    private func listing(
        origin: SearchPath.Origin = .shipped, in cacheFolder: String? = nil, settling: Duration = .zero
    ) async throws -> PluginListing {
        let host = host(origin: origin, in: cacheFolder, settling: settling)
        return try #require(await host.plugins().first { $0.path == path })
    }

    private func entries() -> [String] {
        (FolderListing.names(in: cache.path) ?? []).map { "\(cache.path)/\($0)" }
    }

    @Test(arguments: [10_500_000_000, -10_500_000_000, 15_000_000_000])
    func `a file of any time has a stamp`(seconds: Int) throws {
        let times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 999_999_999)]
        try #require(utimensat(AT_FDCWD, path, times, 0) == 0)
        let kept = try #require(DescriptionCache(cache.path, executable: Products.testHost, settling: .zero))
        #expect(kept.stamp(of: path) != nil)
    }

    @Test func `times have no last year`() {
        let latest = timespec(tv_sec: .max, tv_nsec: 999_999_999)
        let (seconds, attoseconds) = FileStamp.sinceEpoch(latest).components
        #expect(seconds == .max && attoseconds == 999_999_999_000_000_000)
    }

    @Test(arguments: [SearchPath.Origin.shipped, .installed])
    func `a plugin on a standard path is asked once`(origin: SearchPath.Origin) async throws {
        let first = try await listing(origin: origin)
        #expect(first.name == "counting" && first.refusal == nil)
        #expect(try loads() == 1)
        let second = try await listing(origin: origin)
        #expect(second == first)
        #expect(try loads() == 1, "no process was asked")
        #expect(entries().count == 1)
    }

    @Test func `a plugin that the user named is asked each time`() async throws {
        for count in 1...2 {
            #expect(try await listing(origin: .named).refusal == nil)
            #expect(try loads() == count)
        }
        #expect(entries() == [])
    }

    @Test func `a file that is still changing is asked each time`() async throws {
        for count in 1...2 {
            #expect(try await listing(settling: .seconds(3600)).refusal == nil)
            #expect(try loads() == count)
        }
        #expect(entries() == [])
    }

    @Test func `a file that was replaced is asked anew`() async throws {
        #expect(try await listing().name == "counting")
        try put(["COUNTING_NAME=\"other\""])
        #expect(try await listing().name == "other")
        #expect(try await listing().name == "other")
        #expect(try loads() == 2)
        // The same bytes in another file.
        rename(path, "\(folder.path)/old")
        try put(["COUNTING_NAME=\"other\""])
        #expect(try await listing().name == "other")
        #expect(try loads() == 3)
    }

    @Test(arguments: ["mode", "owner", "cut", "empty", "garbage", "folder"])
    func `an entry that is not as it was kept is ignored`(change: String) async throws {
        if change == "owner", geteuid() != 0 { try Test.cancel("only root can give a file to another user") }
        let kept = try await listing()
        let entry = try #require(entries().first)
        switch change {
        case "mode": chmod(entry, 0o666)
        case "owner": chown(entry, 12345, 12345)
        case "cut": truncate(entry, 100)
        case "empty": truncate(entry, 0)
        case "garbage":
            let file = open(entry, O_WRONLY | O_TRUNC)
            let bytes = [UInt8](repeating: 0xA5, count: 4096)
            #expect(write(file, bytes, bytes.count) == bytes.count)
            close(file)
        default: chmod(cache.path, 0o777)
        }
        #expect(try await listing() == kept)
        #expect(try loads() == 2)
        if change != "folder" {
            #expect(try await listing() == kept)
            #expect(try loads() == 2, "it was kept anew")
        }
    }

    /// A file system that does not tell that a file was changed in place.
    @Test(
        arguments: [PluginListing.Isolation.inProcess, .childProcess],
        [
            ["COUNTING_CONCURRENT=1", "was not concurrent and is now concurrent"],
            [
                #"COUNTING_CAPABILITIES="fetch","check""#,
                "was able to check, discover, fetch, create, resume, incremental, parent, x-later and is now able to "
                    + "fetch, check",
            ],
            [#"COUNTING_ISOLATION="child_process""#, "was isolation in_process and is now isolation child_process"],
        ])
    func `a plugin of the same version that says something else is not opened`(
        _ isolation: PluginListing.Isolation, _ change: [String]
    ) async throws {
        _ = try await listing()
        let kept = DescriptionCache(cache.path, executable: Products.testHost, settling: .zero)
        let before = try #require(kept?.stamp(of: path))
        let reply = try #require(kept?.reply(for: before, of: path))
        try put([change[0]])
        let after = try #require(kept?.stamp(of: path))
        kept?.keep(reply, for: after, of: path)
        let host = host()
        let plugin = try await host.plugin(named: "counting")
        let refusal = try await failure {
            _ = try await host.connect(
                to: plugin, options: try batch([:]), name: "c", isolation: isolation)
        }
        #expect(refusal.code == .configuration)
        #expect(refusal.message == "\(path) \(change[1]): it was replaced meanwhile")
        #expect(refusal.remedy == "start again")
        let next = self.host()
        let found = try await next.plugin(named: "counting")
        let connection = try await next.connect(to: found, options: try batch([:]), name: "c", isolation: isolation)
        #expect(try await ids(connection.fetch(try request())).count == 10, "it starts again")
        await connection.close()
    }

    @Test func `a refusal is not kept`() async throws {
        try put(["COUNTING_BAD_DESCRIPTION"])
        for count in 1...2 {
            #expect(try await listing().refusal?.hasPrefix("its description is invalid") == true)
            #expect(try loads() == count)
        }
        #expect(entries() == [])
    }

    @Test func `a folder that cannot be made is not an error`() async throws {
        let file = try folder.write([], as: "file")
        for count in 1...2 {
            #expect(try await listing(in: "\(file)/below").name == "counting")
            #expect(try loads() == count)
        }
    }
}
