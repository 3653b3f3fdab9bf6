import Foundation
import Glibc
import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import SQLiteStore
import StoreTestSupport
import TestSupport
import Testing

/// One process at a time: who has the lock, who waits, and who is dead.
@Suite struct FileLockTests {
    private let folder: TemporaryFolder
    private var database: String { folder.appending("bmo.sqlite") }
    private var lockFile: String { database + "-lock" }

    init() throws { folder = try TemporaryFolder() }

    private func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

    @Test func `the second learns who has the lock and since when`() throws {
        let lock = try SQLiteStores().lock(database, command: "bmo sync\nCountry")
        let holder = try #require(SQLiteStores().lockHolder(of: database, for: .writing))
        #expect(holder.pid == getpid() && holder.command == "bmo sync Country" && !holder.host.isEmpty)
        #expect(holder.since.hasSuffix("Z") && holder.since.count == 27)
        let error = try storeError { _ = try SQLiteStores().lock(database, command: "another") }
        #expect(error.code == .busy)
        #expect(
            error.description
                == "\(database) is being written by bmo sync Country (process \(getpid()) on \(holder.host)), "
                + "since \(holder.since); wait until it ends, or use --wait")
        lock.release()
        lock.release()
        #expect(SQLiteStores().lockHolder(of: database, for: .writing) == nil)
        #expect(!isThere(lockFile), "nothing stays beside the database")
        try SQLiteStores().lock(database, command: "next").release()
    }

    @Test func `one file has one lock whatever it is called`() throws {
        try folder.write("", to: "bmo.sqlite")
        symlink(database, folder.appending("other.sqlite"))
        let lock = try SQLiteStores().lock(
            folder.path + "/../" + folder.path.split(separator: "/").last! + "/bmo.sqlite", command: "a")
        defer { lock.release() }
        #expect(FileManager.default.fileExists(atPath: lockFile))
        #expect(
            try storeError { _ = try SQLiteStores().lock(folder.appending("other.sqlite"), command: "b") }.code == .busy
        )
    }

    @Test func `a waiter gets it when it is free`() async throws {
        let lock = try SQLiteStores().lock(database, command: "first")
        let database = database
        let waits = AsyncStream<LockHolder?>.makeStream()
        let waiter = Task {
            try await SQLiteStores().lock(database, command: "second", timeout: .unlimited) {
                waits.continuation.yield($0)
            }
        }
        var iterator = waits.stream.makeAsyncIterator()
        let told = await iterator.next()
        #expect(told??.command == "first")
        lock.release()
        let second = try await waiter.value
        #expect(SQLiteStores().lockHolder(of: database, for: .writing)?.command == "second")
        second.release()
    }

    @Test func `patience ends`() async throws {
        let lock = try SQLiteStores().lock(database, command: "first")
        let start = ContinuousClock.now
        let error = await #expect(throws: StoreError.self) {
            _ = try await SQLiteStores().lock(database, command: "second", timeout: .atMost(.milliseconds(200)))
        }
        #expect(error?.code == .busy)
        #expect(ContinuousClock.now - start >= .milliseconds(200))
        lock.release()
    }

    @Test func `a cancelled wait ends`() async throws {
        let lock = try SQLiteStores().lock(database, command: "first")
        let database = database
        let waiter = Task { try await SQLiteStores().lock(database, command: "second", timeout: .unlimited) }
        waiter.cancel()
        await #expect(throws: CancellationError.self) { _ = try await waiter.value }
        lock.release()
    }

    @Test func `death gives it back`() async throws {
        // flock(1) of util-linux holds the lock; what a killed bmo left in the file is its own.
        try folder.write("pid 1\nhost old\nsince 2000\ncommand bmo sync\n", to: "bmo.sqlite-lock")
        #expect(SQLiteStores().lockHolder(of: database, for: .writing) == nil, "a dead process holds nothing")
        let other = try RunningProcess("flock", [lockFile, "sleep", "60"])
        try await eventually("the other process has the lock") {
            SQLiteStores().lockHolder(of: database, for: .writing) != nil
        }
        #expect(try storeError { _ = try SQLiteStores().lock(database, command: "second") }.code == .busy)
        other.signal(SIGKILL)
        _ = try await other.finish()
        let lock = try SQLiteStores().lock(database, command: "second")
        #expect(
            SQLiteStores().lockHolder(of: database, for: .writing)?.command == "second",
            "what the dead one wrote is replaced")
        lock.release()
    }

    @Test func `a process that was started meanwhile does not keep it`() async throws {
        let lock = try SQLiteStores().lock(database, command: "first")
        let child = try RunningProcess("sleep", ["60"])
        lock.release()
        try SQLiteStores().lock(database, command: "second").release()
        child.signal(SIGKILL)
        _ = try await child.finish()
    }

    @Test func `a missing folder is reported`() throws {
        let error = try storeError { _ = try SQLiteStores().lock(folder.appending("no/bmo.sqlite"), command: "a") }
        #expect(error.code == .open)
        #expect(error.message.contains("no/bmo.sqlite-lock cannot be created: No such file or directory"), "\(error)")
    }

    @Test func `a store keeps it until it is closed`() throws {
        let fixture = try StoreFixture(.of(Entity("A", key: ["id"], [.of("id", .integer)])))
        #expect(!fixture.store.hasLock)
        fixture.store.keep(try SQLiteStores().lock(fixture.path, command: "a"))
        #expect(fixture.store.hasLock)
        #expect(SQLiteStores().lockHolder(of: fixture.path, for: .writing)?.command == "a")
        try fixture.store.close()
        #expect(SQLiteStores().lockHolder(of: fixture.path, for: .writing) == nil)
    }
}
