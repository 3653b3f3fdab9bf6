import BridgeTestSupport
import Glibc
import TestSupport
import Testing

@testable import BridgeHost

@Suite struct PluginTrustTests {
    @Test func `a file that others can write is refused`() async throws {
        let host = try CountingHost()
        chmod(host.path, 0o757)
        let failure = try await failure { _ = try await host.host.plugin(named: "counting") }
        #expect(failure.message.contains("the file \(host.path) can be written by others: chmod go-w \(host.path)"))
    }

    @Test func `a file in a folder that others can write is refused`() async throws {
        let host = try CountingHost()
        chmod(host.folder.path, 0o777)
        let failure = try await failure { _ = try await host.host.plugin(named: "counting") }
        #expect(failure.message.contains("its folder \(host.folder.path) can be written by others"))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file to another user"))
    func `a file of another user is refused`() async throws {
        let host = try CountingHost()
        chown(host.path, 12345, 12345)
        let failure = try await failure { _ = try await host.host.plugin(named: "counting") }
        #expect(failure.message.contains("belongs to another user (12345)"))
    }

    @Test func `a pinned file is used and a changed one is not even started`() async throws {
        let folder = try TemporaryFolder(staysUntilExit: true)
        let path = try folder.copy(try CompiledBridge.counting(), as: "libcountingBridge.so")
        var pins = try PluginPins(path: "\(folder.path)/bmo.lock")
        try pins.pin("counting", file: path)
        #expect(await listing(folder, pins)?.refusal == nil)

        // Loading it ends the process that looks: the refusal of an inspection would say so.
        try folder.copy(try CompiledBridge.counting(["COUNTING_CRASH_ON_LOAD"]), as: "libcountingBridge.so")
        let refusal = try #require(await listing(folder, pins)?.refusal)
        #expect(refusal.hasPrefix("it is not the file that \(folder.path)/bmo.lock pins"))

        pins.allowsOthers = true
        #expect(await listing(folder, pins)?.refusal == "crashed while loading: SIGABRT (aborted)")
    }

    @Test(arguments: [PluginListing.Isolation.inProcess, .childProcess])
    func `a file that is exchanged after it was checked is not loaded`(isolation: PluginListing.Isolation) async throws
    {
        let folder = try TemporaryFolder(staysUntilExit: true)
        let path = try folder.copy(try CompiledBridge.counting(), as: "libcountingBridge.so")
        var pins = try PluginPins(path: "\(folder.path)/bmo.lock")
        try pins.pin("counting", file: path)
        let host = host(folder, pins, .named)
        let plugin = try await host.plugin(named: "counting")
        // Loading it would end the process: this one, or the bridge's.
        try folder.copy(try CompiledBridge.counting(["COUNTING_CRASH_ON_LOAD"]), as: "libcountingBridge.so")
        let failure = try await failure {
            _ = try await host.connect(to: plugin, options: try batch([:]), name: "numbers", isolation: isolation)
        }
        #expect(failure.message.contains("it is not the file that was checked before (SHA-256 "), "\(failure)")
        #expect(failure.message.contains("none of it ran"), "\(failure)")
        // As it was it is loaded, in one copy for all that use it.
        try folder.copy(try CompiledBridge.counting(), as: "libcountingBridge.so")
        for name in ["one", "two"] {
            let connection = try await host.connect(
                to: plugin, options: try batch([:]), name: name, isolation: isolation)
            await connection.close()
        }
    }

    @Test func `a file that is written while it is loaded is loaded as it was hashed`() throws {
        let folder = try TemporaryFolder(staysUntilExit: true)
        let path = try folder.copy(try CompiledBridge.counting(["COUNTING_HOG"]), as: "libcountingBridge.so")
        let digest = try PluginPins.hash(of: path)
        let pinned = try PinnedLibrary(path, digest: digest, links: folder.path)
        let file = open(path, O_WRONLY | O_TRUNC)
        #expect(write(file, "other", 5) == 5)
        close(file)
        // Neither is what was hashed open to changes.
        let copy = open(pinned.path, O_RDWR)
        #expect(copy < 0 || write(copy, "other", 5) < 0)
        if copy >= 0 { close(copy) }
        #expect(try PluginPins.hash(of: pinned.path) == digest)
        #expect(dlopen(pinned.path, RTLD_NOW | RTLD_LOCAL) != nil, "\(String(cString: dlerror()))")
    }

    /// Libraries without a SONAME, as SwiftPM makes them, in the plugin's folder and in one beside it.
    @Test(arguments: [PluginListing.Isolation.inProcess, .childProcess])
    func `a pinned plugin finds its private libraries`(isolation: PluginListing.Isolation) async throws {
        let folder = try TemporaryFolder(staysUntilExit: true)
        for (name, place) in [("near", "bridges"), ("beside", "lib")] {
            mkdir("\(folder.path)/\(place)", 0o700)
            try folder.write(Array("int counting_\(name)(void) { return 1; }".utf8), as: "\(name).c")
            try CompiledBridge.compile("\(folder.path)/\(name).c", to: "\(folder.path)/\(place)/lib\(name).so")
        }
        try folder.write(
            Array(
                """
                #include "\(PackageFolder.path)/Tests/CountingBridge/counting_bridge.c"
                int counting_near(void);
                int counting_beside(void);
                __attribute__((constructor)) static void use(void) { if (counting_near() + counting_beside() != 2) abort(); }
                """.utf8), as: "whole.c")
        let path = "\(folder.path)/bridges/libcountingBridge.so"
        try CompiledBridge.compile(
            "\(folder.path)/whole.c", to: path,
            linking: [
                "-L\(folder.path)/bridges", "-L\(folder.path)/lib", "-lnear", "-lbeside",
                "-Wl,--enable-new-dtags,-rpath,$ORIGIN:$ORIGIN/../lib",
            ])
        var pins = try PluginPins(path: "\(folder.path)/bmo.lock")
        try pins.pin("counting", file: path)
        let host = BridgeHost(
            searchPaths: [SearchPath("\(folder.path)/bridges", origin: .named)], executable: Products.testHost,
            logger: LogLines().logger, pins: pins)
        let plugin = try await host.plugin(named: "counting")
        #expect(plugin.digest != nil)
        let connection = try await host.connect(
            to: plugin, options: try batch([:]), name: "numbers", isolation: isolation)
        #expect(connection.isolation == isolation)
        await connection.close()
    }

    @Test func `an installed file that is not pinned is not even started`() async throws {
        let folder = try TemporaryFolder(staysUntilExit: true)
        try folder.copy(try CompiledBridge.counting(["COUNTING_CRASH_ON_LOAD"]), as: "libcountingBridge.so")
        let pins = try PluginPins(path: "\(folder.path)/bmo.lock")
        let refusal = try #require(await listing(folder, pins, origin: .installed)?.refusal)
        #expect(refusal.hasPrefix("it is not pinned in \(folder.path)/bmo.lock: `bmo plugins install"))
        #expect(await listing(folder, pins, origin: .named)?.refusal == "crashed while loading: SIGABRT (aborted)")
    }

    @Test func `a plugin under another file name is held to its pin too`() async throws {
        let folder = try TemporaryFolder(staysUntilExit: true)
        let path = try folder.copy(try CompiledBridge.counting(), as: "libOtherBridge.so")
        var pins = try PluginPins(path: "\(folder.path)/bmo.lock")
        try pins.pin("counting", file: try folder.write([1, 2, 3], as: "else"))
        #expect(await listing(folder, pins)?.refusal?.hasPrefix("it is not the file that") == true)
        try pins.pin("counting", file: path)
        #expect(await listing(folder, pins)?.refusal == nil)
    }

    @Test func `a lock file is read as it was written`() throws {
        let folder = try TemporaryFolder(staysUntilExit: true)
        let path = "\(folder.path)/bmo.lock"
        var pins = try PluginPins(path: path)
        try pins.pin("abc", file: try folder.write(Array("abc".utf8), as: "abc"))
        // FIPS 180-4, the example for "abc".
        #expect(pins.hashes["abc"] == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        try folder.write(Array(pins.text.utf8), as: "bmo.lock")
        #expect(try PluginPins(path: path) == pins)
        try folder.write(Array("abc 123\n".utf8), as: "bmo.lock")
        #expect { _ = try PluginPins(path: path) } throws: { "\($0)".hasPrefix("\(path):1: not a pin") }
    }

    @Test func `a bridge that did not come with the program runs in a process of its own`() async throws {
        let folder = try TemporaryFolder(staysUntilExit: true)
        try folder.copy(try CompiledBridge.counting(), as: "libCountingBridge.so")
        for (origin, isolation) in [
            (SearchPath.Origin.shipped, PluginListing.Isolation.inProcess), (.installed, .childProcess),
            (.named, .childProcess),
        ] {
            let host = host(folder, nil, origin)
            let plugin = try await host.plugin(named: "counting")
            let connection = try await host.connect(to: plugin, options: try batch([:]), name: "numbers")
            #expect(connection.isolation == isolation)
            await connection.close()
        }
    }

    @Test func `a bridge that takes too much memory is one failure of its`() async throws {
        let host = try CountingHost(["COUNTING_HOG"])
        let plugin = try await host.host.plugin(named: "counting")
        let connection = try await host.host.connect(
            to: plugin, options: try batch([:]), name: "numbers", memory: 128 << 20)
        let stream = try await connection.fetch(try request())
        let failure = try await failure { while try await stream.next() != nil {} }
        #expect(failure.message.contains("out of memory"))
        await connection.close()
    }

    private func host(_ folder: TemporaryFolder, _ pins: PluginPins?, _ origin: SearchPath.Origin) -> BridgeHost {
        BridgeHost(
            searchPaths: [SearchPath(folder.path, origin: origin)], executable: Products.testHost,
            logger: LogLines().logger, pins: pins)
    }

    private func listing(
        _ folder: TemporaryFolder, _ pins: PluginPins, origin: SearchPath.Origin = .named
    ) async -> PluginListing? {
        await host(folder, pins, origin).plugins().first { $0.path.hasSuffix("Bridge.so") }
    }
}
