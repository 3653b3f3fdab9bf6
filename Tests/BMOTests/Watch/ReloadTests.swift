import BridgeTestSupport
import Foundation
import ImportTestSupport
import Model
import StoreContract
import SystemCalls
import TestSupport
import Testing

@testable import BMO

/// A watch whose configuration's file changes.
@Suite struct ReloadTests {
    /// A watch in this process, which follows the file.
    private struct RunningWatch {
        let place: LibraryWorkspace<CountingHost>
        let task: Task<Void, any Error>
        let words: Words

        var health: String {
            (try? String(contentsOfFile: place.folder.appending("health.json"), encoding: .utf8)) ?? ""
        }

        func stop() async throws {
            task.cancel()
            try await task.value
        }
    }

    private final class Words: Sendable {
        private let all = Mutex<[String]>([])

        func note(_ event: WatchEvent) {
            switch event {
            case .trouble(let words), .notice(let words): all.withLock { $0.append(words) }
            default: break
            }
        }

        func all(with part: String) -> [String] { all.withLock { $0.filter { $0.contains(part) } } }
    }

    @discardableResult
    private func write(
        _ attributes: String, _ place: LibraryWorkspace<CountingHost>, to name: String = "bmo.yml", more: String = ""
    ) throws -> String {
        try place.folder.write(
            """
            version: 1
            bridges: {numbers: {plugin: counting}}
            entities:
              Number:
                bridge: numbers
                key: id
                attributes: {\(attributes)}
                counting: {world: "\(place.folder.appending("world"))"}
            \(more)
            """, to: name)
    }

    private func start(_ attributes: String, every: Duration = .milliseconds(200)) async throws -> RunningWatch {
        let place = try LibraryWorkspace.counting()
        try place.say("count 3")
        try write(attributes, place)
        let configuration = followed(place)
        let workspace = try await configuration.start()
        let words = Words()
        let options = WatchOptions(every: every, health: place.folder.appending("health.json"))
        let task = Task {
            try await workspace.watch(options, news: RemoteNews(), following: configuration) { words.note($0) }
        }
        try await eventually("a first sync is over") {
            (try? place.file().value("SELECT count(*) FROM Number")) == "3"
        }
        return RunningWatch(place: place, task: task, words: words)
    }

    private func followed(_ place: LibraryWorkspace<CountingHost>) -> FollowedConfiguration {
        FollowedConfiguration(path: place.folder.appending("bmo.yml")) { file in
            try await Workspace.load(file, host: place.server.host, stores: place.stores, toleratesRefusals: false)
        }
    }

    private func columns(_ place: LibraryWorkspace<CountingHost>) throws -> [String] {
        try place.file().rows("SELECT name FROM pragma_table_info('Number')").map { $0[0] }
    }

    @Test func `a watch goes on with a configuration that has changed, and not with the earlier one`() async throws {
        let watch = try await start("id: integer, name: text")
        try write("id: integer, title: {type: text, from: name, renamed_from: name}", watch.place)
        try await eventually("the column has its new name") {
            (try? columns(watch.place))?.contains("'title'") == true
        }
        try await eventually("the watch says so") { !watch.words.all(with: "bmo.yml has changed").isEmpty }
        try watch.place.say("count 4")
        try await eventually("there is a sync with it") {
            (try? watch.place.file().value("SELECT title FROM Number WHERE id = 3")) == "'number 3'"
        }
        #expect(try !columns(watch.place).contains("'name'"), "the earlier one would have added it")
        #expect(watch.words.all(with: "bmo.yml has changed").count == 1)
        #expect(watch.health.contains(#""notice":{"at":""#), "\(watch.health)")
        #expect(watch.health.contains("goes on with the new configuration"), "\(watch.health)")
        try await watch.stop()
        #expect(watch.health.contains(#""state":"stopped""#))
    }

    @Test func `a watch goes on as before with a file that has a fault, says so once, and follows its correction`()
        async throws
    {
        let watch = try await start("id: integer, name: text")
        try write("id: integer, name: nonsense", watch.place)
        let words = try await eventually("the fault is told") {
            let words = watch.words.all(with: "cannot be used as it is now")
            return words.isEmpty ? nil : words
        }
        #expect(words.first?.contains("nonsense") == true, "\(words)")
        try watch.place.say("count 5")
        try await eventually("syncs go on") {
            (try? watch.place.file().value("SELECT count(*) FROM Number")) == "5"
        }
        try await eventually("the health file has the fault") { watch.health.contains("cannot be used as it is now") }
        #expect(watch.words.all(with: "cannot be used").count == 1)
        try write("id: integer, name: text, changed: timestamp", watch.place)
        try await eventually("the corrected file is followed") {
            (try? columns(watch.place))?.contains("'changed'") == true
        }
        try await eventually("the health file has no error") { watch.health.contains(#""error":null"#) }
        try await watch.stop()
    }

    @Test func `a watch does not sync into a database that was adapted to a file with a fault`() async throws {
        let watch = try await start("id: integer, name: text", every: .seconds(1))
        // The new file adapts the database, and gets a fault later.
        try write("id: integer, title: {type: text, from: name, renamed_from: name}", watch.place)
        try await eventually("the column has its new name") {
            (try? columns(watch.place))?.contains("'title'") == true
        }
        try write("id: integer, title: nonsense", watch.place)
        try await eventually("the fault is told") { !watch.words.all(with: "cannot be used as it is now").isEmpty }
        // Another program adapts it to a third one, with the lock: `bmo_meta` then names other tables.
        let other = try await Workspace.load(
            path: write(
                "id: integer, heading: {type: text, from: name, renamed_from: title}", watch.place, to: "other.yml",
                more: "database: \"\(watch.place.database)\""),
            host: watch.place.server.host, stores: watch.place.stores)
        try await eventually("another program has adapted it") {
            (try? await other.openLockedStore(command: "a test").close()) != nil
        }
        try await eventually("the rounds fail") { watch.health.contains("adapted to another configuration") }
        #expect(try !columns(watch.place).contains("'title'"))
        try await watch.stop()
    }

    @Test func `a watch waits for the migration that a changed file needs`() async throws {
        let watch = try await start("id: integer, name: text")
        try write("id: text, name: text", watch.place)
        try await eventually("the migration is asked for") {
            !watch.words.all(with: "bmo migrate --apply").isEmpty
        }
        try watch.place.say("count 4")
        try await eventually("syncs go on as before") {
            (try? watch.place.file().value("SELECT count(*) FROM Number")) == "4"
        }
        #expect(try watch.place.file().value("SELECT typeof(id) FROM Number WHERE id = 3") == "'integer'")
        try await watch.stop()
    }

    @Test func `a new configuration that the file does not have any more is not begun with`() async throws {
        let place = try LibraryWorkspace.counting()
        try write("id: integer, name: text", place)
        let configuration = followed(place)
        _ = try await configuration.start()
        for (name, isChecked) in [("title", false), ("heading", true)] {
            try write("id: integer, \(name): text", place)
            #expect(await configuration.look { _ in } == .none, "it may be incomplete")
            #expect(await configuration.look { _ in } == .ready)
            try configuration.checkNext()
            try write("id: integer, other: text", place)
            if isChecked {
                #expect(throws: OutdatedConfiguration.self) { try configuration.checkNext() }
            } else {
                #expect(configuration.isReady && configuration.takeNext() == nil)
            }
            #expect(!configuration.isReady && !configuration.permits())
        }
        #expect(await configuration.look { _ in } == .none)
        #expect(await configuration.look { _ in } == .ready)
        let next = try #require(configuration.takeNext())
        #expect(next.model.model.entities.first?.attributes.contains { $0.name == "other" } == true)
    }

    @Test func `a configuration that cannot be begun with again and again is reported once`() async throws {
        let place = try LibraryWorkspace.counting()
        try write("id: integer, name: text", place)
        let configuration = followed(place)
        _ = try await configuration.start()
        let fault = StoreError(.open, "it is away", remedy: "bring it back")
        #expect(configuration.refuse(fault)?.contains("it is away") == true)
        #expect(configuration.refuse(fault) == nil)
        #expect(configuration.refuse(StoreError(.open, "it is broken", remedy: "repair it")) != nil)
    }

    @Test func `a watch adapts no database without the lock`() async throws {
        let place = try LibraryWorkspace.counting()
        try write("id: integer, name: text", place)
        let configuration = followed(place)
        try await configuration.start().openStore().close()
        try write("id: integer, name: text, title: text", place)
        let workspace = try await configuration.start()
        let lock = try place.stores.lock(place.database, command: "a test")
        var database = try ReopenedStore(workspace)
        #expect(try !columns(place).contains("'title'"))
        #expect(try database.current() == nil)
        lock.release()
        #expect(try database.current() != nil)
        #expect(try columns(place).contains("'title'"))
        try database.close()
    }
}
