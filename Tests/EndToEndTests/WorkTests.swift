import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEndTests {
    /// `bmo work`: several processes share one sync.
    @Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
    struct WorkTests {
        /// BMO_TEST_KILLS=200 kills as often as that.
        private static let kills = ProcessInfo.processInfo.environment["BMO_TEST_KILLS"].flatMap { Int($0) } ?? 20

        @Test func `workers bring the rows of a sync, and delete once what the remote no longer has`() async throws {
            let place = try await RemoteWorkspace.teams()
            let (first, second) = try await place.expected()
            let location = place.server.database.newLocation()
            for (state, rows) in [(1, first), (2, second)] {
                try place.server.show(state: state)
                let workers = try (0..<4).map { _ in
                    try place.start("work", "--until-idle", "--every", "0s", over: location)
                }
                for worker in workers {
                    let ended = try await worker.finish(within: .seconds(60))
                    #expect(ended.exitCode == 0, "\(ended)")
                }
                #expect(try place.contents(of: location) == rows, "state \(state)")
            }
            let deletions = try place.deletions(in: location)
            #expect(deletions.count == TeamServer.gone && deletions.nonEmptyAllSatisfy { $0.hasSuffix("|1") })
            let status = try await place.run("status", over: location)
            #expect(status.exitCode == 0 && status.output.contains("of workers: over"), "\(status)")
            // The workers of a round continue one run.
            let outcomes = try place.rows("SELECT kind, outcome FROM %.bmo_runs WHERE id <= 2", in: location)
            #expect(outcomes == ["sync|finished", "sync|finished"])
            let undo = try await place.run("undo", "2", over: location)
            #expect(undo.exitCode == 0, "\(undo)")
            #expect(try place.contents(of: location) == first, "a round of several workers is undone as one run")
        }

        @Test func `a worker that was stopped for longer than its lease is refused its page`() async throws {
            let place = try await RemoteWorkspace.teams()
            let (first, second) = try await place.expected()
            let location = place.server.database.newLocation()
            let begin = try await place.work(over: location)
            try #require(begin.exitCode == 0, "\(begin)")
            #expect(try place.contents(of: location) == first)
            try place.server.show(state: 2)
            try place.server.slow(by: 0.05)
            let asked = place.server.asked
            let stopped = try place.start("work", "--until-idle", "--every", "0s", "--lease", "1s", over: location)
            try await eventually("the worker asks for users") { place.server.asked > asked + 2 }
            stopped.signal(SIGSTOP)
            let status = try await place.run("status", over: location)
            #expect(status.output.contains("User 1/3"), "\(status)")
            let other = try await place.work(over: location)
            #expect(other.exitCode == 0, "\(other)")
            #expect(other.output.contains("User 1/3: continues the work of another worker"), "\(other)")
            #expect(try place.contents(of: location) == second)
            stopped.signal(SIGCONT)
            let ended = try await stopped.finish(within: .seconds(60))
            #expect(ended.allOutput.contains("User 1/3: another worker has taken over the unit"), "\(ended)")
            #expect(try place.contents(of: location) == second)
            let deletions = try place.deletions(in: location)
            #expect(deletions.count == TeamServer.gone && deletions.nonEmptyAllSatisfy { $0.hasSuffix("|1") })
        }

        @Test func `workers that are killed at any instant bring the rows of one that was not`() async throws {
            let place = try await RemoteWorkspace.teams()
            let (_, second) = try await place.expected()
            let location = place.server.database.newLocation()
            let begin = try await place.work(over: location)
            try #require(begin.exitCode == 0, "\(begin)")
            try place.server.show(state: 2)
            try place.server.slow(by: 0.02)
            let seed = UInt64.random(in: 0...UInt64.max)
            var random = SplitMix64(seed: seed)
            func start() throws -> RunningProcess {
                try place.start("work", "--every", "0s", "--lease", "1s", over: location)
            }
            var workers = try (0..<4).map { _ in try start() }
            for kill in 1...Self.kills {
                try await Task.sleep(for: .milliseconds(Int.random(in: 0..<800, using: &random)))
                let victim = Int.random(in: 0..<workers.count, using: &random)
                workers[victim].signal(SIGKILL)
                let ended = try await workers[victim].finish(within: .seconds(60))
                #expect(ended.signal == SIGKILL, "seed \(seed), kill \(kill): \(ended)")
                workers[victim] = try start()
            }
            for worker in workers { worker.signal(SIGTERM) }
            for worker in workers {
                let ended = try await worker.finish(within: .seconds(60))
                // The last one may not have come to the point where it waits for signals.
                #expect(ended.exitCode == 0 || ended.signal == SIGTERM, "seed \(seed): \(ended)")
            }
            // What is left of the open round, in which a unit may have been given up, and a whole one.
            for round in 1...2 {
                let last = try await place.work(over: location)
                let isGivenUp = round == 1 && last.allOutput.contains("workers ended, or lost their lease")
                #expect(last.exitCode == 0 || isGivenUp, "seed \(seed): \(last)")
            }
            #expect(try place.contents(of: location) == second, "seed \(seed)")
            let deletions = try place.deletions(in: location)
            #expect(
                deletions.count == TeamServer.gone && deletions.nonEmptyAllSatisfy { $0.hasSuffix("|1") },
                "seed \(seed): \(deletions)")
        }

        @Test func `a unit that ends each of its workers fails in the end, and what it would have listed stays`()
            async throws
        {
            let place = try await RemoteWorkspace.teams()
            let (first, second) = try await place.expected()
            let location = place.server.database.newLocation()
            let begin = try await place.work(over: location)
            try #require(begin.exitCode == 0, "\(begin)")
            try place.server.show(state: 2)
            try place.server.slow(by: 0.05)
            // Team 40 is in the second of three ranges.
            func isAsked(since number: Int) -> Bool { place.server.teamsAsked.dropFirst(number).contains(40) }
            for loss in 1...5 {
                let number = place.server.asked
                let worker = try place.start("work", "--every", "0s", "--lease", "1s", over: location)
                try await eventually("worker \(loss) asks for team 40") { isAsked(since: number) }
                worker.signal(SIGKILL)
                _ = try await worker.finish(within: .seconds(60))
            }
            try place.server.slow(by: 0)
            let last = try await place.work(over: location)
            #expect(last.exitCode == 1, "\(last)")
            #expect(
                last.allOutput.contains(
                    "crashed: 5 workers ended, or lost their lease, while they worked on User 2/3; see how they ended"),
                "\(last)")
            #expect(try place.contents(of: location) != first, "the other ranges were imported")
            // Teams 33 to 64 have the users 129 to 256.
            let gone = try place.deletions(in: location).compactMap { Int($0.filter(\.isNumber).dropLast()) }
            #expect(gone.nonEmptyAllSatisfy { !(129...256).contains($0) }, "\(gone)")
            let next = try await place.work(over: location)
            #expect(next.exitCode == 0, "\(next)")
            #expect(try place.contents(of: location) == second)
        }

        @Test func `workers together keep to a bridge's rate, also when some join and one is killed`() async throws {
            let place = try await RemoteWorkspace.teams()
            let (first, _) = try await place.expected()
            place.server.limits = "requests_per_second: 10"
            let location = place.server.database.newLocation()
            let earlier = place.server.asked
            func start() throws -> RunningProcess {
                try place.start("work", "--until-idle", "--every", "0s", "--lease", "1s", over: location)
            }
            var workers = [try start(), try start()]
            try await eventually("workers ask for users") { place.server.asked > earlier + 10 }
            workers += [try start(), try start()]
            try await eventually("workers ask for more users") { place.server.asked > earlier + 40 }
            workers[0].signal(SIGKILL)
            for worker in workers.dropFirst() {
                let ended = try await worker.finish(within: .seconds(60))
                #expect(ended.exitCode == 0, "\(ended)")
            }
            #expect(try place.contents(of: location) == first)
            let times = place.server.requests.dropFirst(earlier).map(\.time).sorted()
            #expect(times.count >= TeamServer.teams)
            for (index, time) in times.enumerated() {
                let count = times[index...].prefix { $0 < time + 1 }.count
                // Each worker may have a request that is due at this instant, and one that was late.
                #expect(count <= 10 + 2 * workers.count, "\(count) requests in the second from \(time)")
            }
            let seconds = (times.last ?? 0) - (times.first ?? 0)
            #expect(seconds < 3 * Double(times.count) / 10, "the rate is used: \(seconds) s")
            // The killed worker's part may be left until another worker renews its own.
            let parts = try place.rows("SELECT count(*) FROM %.bmo_shares", in: location)
            #expect(["0", "1"].contains(parts[0]))
        }

        @Test(arguments: ["in_process", "process"])
        func `workers together keep to a bridge's number of requests at a time`(isolation: String) async throws {
            let place = try await RemoteWorkspace.teams()
            let (first, _) = try await place.expected()
            place.server.limits = "concurrency: 2"
            place.server.isolation = isolation
            try place.server.slow(by: 0.05)
            let location = place.server.database.newLocation()
            let earlier = place.server.asked
            let workers = try (0..<4).map { _ in
                try place.start("work", "--until-idle", "--every", "0s", "--lease", "1s", over: location)
            }
            for worker in workers {
                let ended = try await worker.finish(within: .seconds(60))
                #expect(ended.exitCode == 0, "\(ended)")
            }
            #expect(try place.contents(of: location) == first)
            #expect(place.server.requests.dropFirst(earlier).map(\.running).max() == 2)
        }

        @Test func `a page that the server rolls back is imported again`() async throws {
            let place = try await RemoteWorkspace.teams()
            let (_, second) = try await place.expected()
            let location = place.server.database.newLocation()
            let begin = try await place.run("sync", "-q", over: location)
            try #require(begin.exitCode == 0, "\(begin)")
            _ = try place.rows(
                """
                CREATE SEQUENCE %.failures;
                CREATE FUNCTION %.fail() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    IF nextval('%.failures') IN (1, 2, 9, 20) THEN
                        RAISE EXCEPTION 'try again' USING ERRCODE = '40001';
                    END IF;
                    RETURN NEW;
                END $$;
                CREATE TRIGGER fail BEFORE UPDATE ON %."User" FOR EACH ROW EXECUTE FUNCTION %.fail()
                """, in: location)
            try place.server.show(state: 2)
            let sync = try await place.run("sync", "-q", over: location)
            #expect(sync.exitCode == 0, "\(sync)")
            #expect(try place.contents(of: location) == second)
            #expect(Int(try place.rows("SELECT last_value FROM %.failures", in: location)[0]) ?? 0 > 20)
        }

        @Test func `a sync waits for workers and workers for a sync`() async throws {
            let place = try await RemoteWorkspace.teams()
            let location = place.server.database.newLocation()
            try place.server.slow(by: 0.05)
            let worker = try place.start("work", "--every", "0s", over: location)
            try await eventually("the worker asks for users") { place.server.asked > 0 }
            let busy = try await place.run("sync", over: location)
            #expect(busy.exitCode == 1 && busy.allOutput.contains("is being written by bmo work"), "\(busy)")
            worker.signal(SIGTERM)
            let ended = try await worker.finish(within: .seconds(60))
            #expect(ended.exitCode == 0, "\(ended)")
            let waiting = try place.rows("SELECT count(*) FROM %.bmo_units WHERE state = 'working'", in: location)
            #expect(waiting == ["0"], "a worker that is asked to stop gives its unit back")
            #expect(try place.rows("SELECT count(*) FROM %.bmo_workers", in: location) == ["0"])
        }

        @Test func `workers end when their configuration has changed, but not for one that has a fault`() async throws {
            let place = try await RemoteWorkspace.teams()
            let location = place.server.database.newLocation()
            let workers = try (0..<2).map { _ in try place.start("work", "--every", "0s", over: location) }
            try await eventually("a round is over") {
                workers.contains { $0.output.contains("the round is over: finished") }
            }
            let file = "\(location.hash.magnitude).yml"
            let config = try String(contentsOfFile: place.folder.appending(file), encoding: .utf8)
            try place.folder.write(config.replacing("name: text", with: "name: txt"), to: file)
            for worker in workers {
                try await eventually("the fault is told") {
                    worker.errorOutput.contains("so that the worker goes on as it was configured before")
                }
            }
            try place.folder.write(config.replacing(location, with: "other.sqlite"), to: file)
            for worker in workers {
                try await eventually("it is told that a file cannot be shared") {
                    worker.errorOutput.contains("cannot be shared by workers")
                }
            }
            try place.folder.write(
                config.replacing("name: text", with: "name: text, title: {type: text, from: name}"), to: file)
            for worker in workers {
                let ended = try await worker.finish(within: .seconds(60))
                #expect(ended.exitCode == 1, "\(ended)")
                #expect(ended.errorOutput.contains("\(file) has changed: the worker has given its units back"))
            }
            #expect(try place.rows("SELECT count(*) FROM %.bmo_units WHERE state = 'working'", in: location) == ["0"])
            #expect(try place.rows("SELECT count(*) FROM %.bmo_workers", in: location) == ["0"])
        }

        @Test func `a worker with an unchanged file ends when the tables are changed`() async throws {
            let place = try await RemoteWorkspace.teams()
            let location = place.server.database.newLocation()
            let worker = try place.start("work", "--every", "0s", over: location)
            try await eventually("a round is over") { worker.output.contains("the round is over: finished") }
            // As a worker of another machine does that adds a column.
            _ = try place.rows("UPDATE %.bmo_database SET schema_version = schema_version + 1", in: location)
            let ended = try await worker.finish(within: .seconds(60))
            #expect(ended.exitCode == 1, "\(ended)")
            #expect(ended.errorOutput.contains("by a worker with another configuration"), "\(ended)")
            #expect(try place.rows("SELECT count(*) FROM %.bmo_workers", in: location) == ["0"])
        }

        @Test func `a worker with an earlier file is refused once a migration has renamed what it has`() async throws {
            let place = try await RemoteWorkspace.teams()
            let location = place.server.database.newLocation()
            let first = try await place.work(over: location)
            #expect(first.exitCode == 0, "\(first)")
            let file = "\(location.hash.magnitude).yml"
            let config = try String(contentsOfFile: place.folder.appending(file), encoding: .utf8)
            try place.folder.write(
                config.replacing("name: text", with: "title: {type: text, from: name, renamed_from: name}"), to: file)
            try await place.expectSuccess("migrate", "--apply", "-f", file)
            // This writes the file as it was.
            let refused = try await place.work(over: location)
            #expect(refused.exitCode == 2, "\(refused)")
            refused.expectMessages(
                "a later configuration has changed the tables", "would add the column User.name (text)",
                "give the worker the newer bmo.yml")
            let columns = try place.rows(
                """
                SELECT column_name FROM information_schema.columns WHERE table_schema = '%' AND table_name = 'User'
                    AND column_name IN ('name', 'title')
                """, in: location)
            #expect(columns == ["title"])
            // A sync may return to it.
            let sync = try await place.run("sync", "-q", over: location)
            #expect(sync.exitCode == 0, "\(sync)")
            let again = try await place.work(over: location)
            #expect(again.exitCode == 0, "\(again)")
        }

        @Test func `a shard needs a number and a database of its own`() async throws {
            let place = try await RemoteWorkspace.teams()
            for wrong in ["5/4", "1/0", "x"] {
                let run = try await place.run("sync", "--shard", wrong, over: "bmo.sqlite")
                #expect(run.exitCode == 2, "\(run)")
                #expect(
                    run.allOutput.contains("the value \"\(wrong)\" of --shard is not a part of a sync; use"), "\(run)")
            }
            let own = try await place.run("sync", "--shard", "1/2", over: "bmo.sqlite")
            #expect(own.exitCode == 0, "\(own)")
            let other = try await place.run("sync", "--shard", "2/2", over: "bmo.sqlite")
            #expect(other.exitCode != 0 && other.allOutput.contains("with --shard 1/2, not of --shard 2/2"), "\(other)")
        }

        @Test func `a file cannot be shared, and the error says what to use`() async throws {
            let place = try await RemoteWorkspace.teams()
            let run = try await place.run("work", "--until-idle", over: "bmo.sqlite")
            #expect(run.exitCode == 2, "\(run)")
            #expect(run.allOutput.contains("only one process at a time can write a file"), "\(run)")
            #expect(run.allOutput.contains("use `bmo sync` or `bmo watch`, or"), "\(run)")
            for wrong in [["--lease", "0s"], ["--lease", "soon"], ["--concurrency", "0"]] {
                let run = try await place.run("work", wrong[0], wrong[1], over: "bmo.sqlite")
                #expect(run.exitCode == 2 && run.allOutput.contains(wrong[0]), "\(run)")
            }
        }
    }
}
