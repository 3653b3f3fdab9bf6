import BridgeTestSupport
import Foundation
import SystemCalls
import TestSupport
import Testing

@testable import BridgeHost

@Suite struct PluginDiscoveryTests {
    @Test func `a bridge in c is listed with what it says`() async throws {
        let host = try CountingHost()
        let listing = try #require(await host.host.plugins().first)
        #expect(listing.refusal == nil)
        #expect(listing.name == "counting")
        #expect(listing.version == "1.2.3")
        #expect(listing.abi == "1.0")
        #expect(listing.kit == "none")
        #expect(listing.compiler.isEmpty == false)
        #expect(listing.path == host.path)
        #expect(listing.summary == "Counts.")
        #expect(listing.isolation == .inProcess)
        #expect(listing.isConcurrent == false)
        #expect(listing.optionsSchema.contains("\"writeOnly\":true"))
        #expect(listing.entitySchema == #"{"type":"object"}"#)
    }

    @Test func `a capability of a later contract is tolerated`() async throws {
        let listing = try await CountingHost().host.plugin(named: "counting")
        #expect(
            listing.capabilities == [
                "check", "discover", "fetch", "create", "resume", "incremental", "parent", "x-later",
            ])
    }

    @Test(arguments: [
        (["COUNTING_NO_INFO"], "not a bridge: it has no symbol bmo_bridge_info_v1"),
        (["COUNTING_NO_ENTRY"], "not a bridge: it has no symbol bmo_bridge_entry_v1"),
        (["COUNTING_MAGIC=0xBAD"], "not a bridge: wrong magic 0xbad, not 0x314547444952424d"),
        (["COUNTING_INFO_SIZE=24"], "struct too small: bmo_bridge_info has 24 bytes, ABI 1.0 has 48"),
        (
            ["COUNTING_ABI_MAJOR=2"],
            "built for ABI 2.0; this host speaks ABI 1.2: install a build of the bridge for it"
        ),
        (
            ["COUNTING_NULL_ENTRY"],
            "bmo_bridge_entry_v1 returned NULL: the bridge refuses a host of ABI 1.2"
        ),
        (["COUNTING_NULL_FETCH_NEXT"], "its table has no function for fetch_next"),
        (["COUNTING_NAME=\"Bad Name\""], "its name `Bad Name` does not match [a-z][a-z0-9_-]{0,31}"),
        (["COUNTING_CRASH_ON_LOAD"], "crashed while loading: SIGABRT (aborted)"),
        (["COUNTING_BAD_DESCRIPTION"], "its description is invalid: not a batch: wrong magic"),
        (
            ["COUNTING_ISOLATION=\"moon\""],
            "its description is invalid: `isolation` is `moon`, not in_process or child_process"
        ),
    ])
    func `a broken plugin is refused in words`(definitions: [String], reason: String) async throws {
        let listing = try #require(try await CountingHost(definitions).host.plugins().first)
        #expect(listing.refusal == reason)
    }

    @Test func `a program that does not serve its plugins gets a remedy`() async throws {
        let plugin = try CountingHost().path
        let folder = try TemporaryFolder(staysUntilExit: true)
        let forgetful = folder.path + "/ForgetfulHost"
        try FileManager.default.createSymbolicLink(
            atPath: forgetful, withDestinationPath: Products.testHost)
        for (executable, words) in [
            (forgetful, "the program ran its own `main` in the bridge's process: "),
            ("/bin/true", "the process that should load it ended by exit code 0; "),
        ] {
            let host = BridgeHost(searchPaths: [], executable: executable, logger: LogLines().logger)
            let refusal = await host.inspect(path: plugin).refusal ?? ""
            #expect(refusal.hasPrefix(words), "\(refusal)")
            #expect(refusal.contains("`bridges: [BridgeExport(RESTBridge.self)]`"), "\(refusal)")
        }
    }

    @Test func `a plugin that hangs while loading is refused after the deadline`() async throws {
        let host = try CountingHost(["COUNTING_HANG_ON_LOAD"]) { $0.inspection = .seconds(1) }
        #expect(await host.host.plugins().map(\.refusal) == ["did not answer within 1 s"])
    }

    @Test func `a text file is refused without starting a process`() async throws {
        let folder = try TemporaryFolder(staysUntilExit: true)
        try folder.write(Array("no library".utf8), as: "libtext.so")
        let host = BridgeHost(
            searchPaths: [SearchPath(folder.path)], executable: "/nonexistent", logger: LogLines().logger)
        #expect(await host.plugins().map(\.refusal) == ["not a library: it is not an ELF file"])
    }

    @Test func `a truncated library is refused without starting a process`() async throws {
        let folder = try TemporaryFolder(staysUntilExit: true)
        try folder.copy(try CompiledBridge.counting(), as: "libcut.so", bytes: 9000)
        let host = BridgeHost(
            searchPaths: [SearchPath(folder.path)], executable: "/nonexistent", logger: LogLines().logger)
        #expect(await host.plugins().map(\.refusal) == ["not a whole library: it is cut off at 9000 bytes"])
    }

    /// A few bytes that promise a table of gigabytes, or one of the right size that is not there.
    @Test(arguments: [
        (UInt8(255), "not a library: its program headers have 65535 bytes, not 56"),
        (0, "not a whole library: it is cut off at 164 bytes"),
    ])
    func `a library that promises a large table gets no memory for it`(high: UInt8, reason: String) async throws {
        let folder = try TemporaryFolder(staysUntilExit: true)
        let library = try folder.copy(try CompiledBridge.counting(), as: "head", bytes: 64)
        var bytes = try TemporaryFolder.bytes(library) + [UInt8](repeating: 0, count: 100)
        // e_phentsize and e_phnum.
        (bytes[54], bytes[55]) = (high == 0 ? 56 : 255, high)
        (bytes[56], bytes[57]) = (255, 255)
        try folder.write(bytes, as: "liblying.so")
        let host = BridgeHost(
            searchPaths: [SearchPath(folder.path)], executable: "/nonexistent", logger: LogLines().logger)
        let before = try Self.peakMemory()
        #expect(await host.plugins().map(\.refusal) == [reason])
        #expect(try Self.peakMemory() - before < 1 << 20, "in KiB")
    }

    private static func peakMemory() throws -> Int {
        let lines = String(decoding: try BoundedFile.read("/proc/self/status", limit: 1 << 16), as: UTF8.self)
        let line = try #require(lines.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
    }

    @Test func `an executable that cannot be started is named`() async throws {
        let folder = try TemporaryFolder(staysUntilExit: true)
        try folder.copy(try CompiledBridge.counting(), as: "libCountingBridge.so")
        let host = BridgeHost(
            searchPaths: [SearchPath(folder.path)], executable: "/nonexistent", logger: LogLines().logger)
        let refusals = await host.plugins().map(\.refusal)
        #expect(refusals == ["cannot be inspected: cannot start /nonexistent: No such file or directory"])
    }

    @Test func `of two bridges with one name the first wins and the other names it`() async throws {
        let first = try CountingHost()
        let second = try TemporaryFolder(staysUntilExit: true)
        try second.copy(first.path, as: "libOtherBridge.so")
        let host = BridgeHost(
            searchPaths: [SearchPath(first.folder.path), SearchPath(second.path), SearchPath(first.folder.path)],
            executable: Products.testHost, logger: LogLines().logger)
        let listings = await host.plugins()
        #expect(
            listings.map(\.refusal)
                == [nil, "the name `counting` is taken by \(first.path), which comes first in the search"])
    }

    @Test func `an unknown name is answered with the names that there are`() async throws {
        let host = try CountingHost()
        let failure = try await failure { _ = try await host.host.plugin(named: "countin") }
        #expect(failure.description == "countin: configuration: there is no plugin `countin`; there is: counting")
    }

    @Test func `a refused plugin is named with its reason`() async throws {
        let host = try CountingHost(["COUNTING_ABI_MAJOR=2"])
        let failure = try await failure { _ = try await host.host.plugin(named: "counting") }
        #expect(failure.code == .configuration)
        #expect(failure.message.hasPrefix("the plugin `counting` can't be used: \(host.path): built for ABI 2.0;"))
    }

    @Test func `a plugin asked for by name is found without inspecting the others`() async throws {
        let host = try CountingHost()
        try host.folder.copy(try CompiledBridge.counting(["COUNTING_HANG_ON_LOAD"]), as: "libHangingBridge.so")
        let listing = try await host.host.plugin(named: "counting")
        #expect(listing.path == host.path)
    }

    @Test func `of a build folder only bridges are looked at`() throws {
        let folder = try TemporaryFolder(staysUntilExit: true)
        for name in ["libOther.so", "libRESTBridge.so", "libSOAPBridge.so.1", "RESTBridge.so"] {
            try folder.write([], as: name)
        }
        #expect(SearchPath(folder.path, pattern: .bridges).candidates() == ["\(folder.path)/libRESTBridge.so"])
        #expect(
            SearchPath(folder.path).candidates()
                == ["RESTBridge.so", "libOther.so", "libRESTBridge.so"].map { "\(folder.path)/\($0)" })
    }

    @Test func `the standard search goes from the executable to the plugin path`() {
        let standard = SearchPath.standard(executable: "/opt/bmo/bin/bmo", pluginPath: "/a:/b")
        #expect(
            standard.filter { $0.origin != .installed }
                == [
                    SearchPath("/opt/bmo/bin", pattern: .bridges, origin: .shipped),
                    SearchPath("/opt/bmo/bin/../lib/bmo/bridges", origin: .shipped), SearchPath("/a"), SearchPath("/b"),
                ])
        // What is named for this run wins over what was installed once.
        #expect(standard[4].folder.hasSuffix("/bmo/bridges") && standard[4].origin == .installed)
    }

    @Test func `a bridge of BMO_PLUGIN_PATH wins over the installed one`() async throws {
        let (named, installed) = (try CountingHost(), try CountingHost())
        let folder = { (path: String) in String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }
        let paths = SearchPath.standard(executable: "/opt/bmo/bin/bmo", pluginPath: folder(named.path))
        let host = BridgeHost(
            searchPaths: paths.map {
                $0.origin == .installed ? SearchPath(folder(installed.path), origin: .installed) : $0
            },
            executable: Products.testHost, logger: LogLines().logger)
        #expect(try await host.plugin(named: "counting").path == named.path)
        let other = try #require(await host.plugins().first { $0.path == installed.path })
        #expect(other.refusal?.contains("is taken by \(named.path), which comes first") == true, "\(other)")
    }
}
