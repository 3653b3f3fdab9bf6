import BridgeConformance
import Foundation
import TestSupport
import Testing

/// What a replay says of a case that does not fit, and that it does without a network and without time.
@Suite struct ReplayTests: TestWorkspace {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func `each of many broken cases is reported, in their order`() async throws {
        let names = ["rest-errors", "rest-happy", "rest-paging"]
        var folders: [String] = []
        for number in 1...3 {
            for name in names {
                let folder = self.folder.appending("\(name)-\(number)")
                try FileManager.default.copyItem(atPath: ShippedCases.folder + "/" + name, toPath: folder)
                let expected = try String(contentsOfFile: folder + "/expected.txt", encoding: .utf8)
                try (expected + "garbage\n").write(
                    toFile: folder + "/expected.txt", atomically: true, encoding: .utf8)
                folders.append(folder)
            }
        }
        let all = try await ProcessRun.run(
            BuiltCommand.path(), ["fixtures", "run"] + folders, within: .seconds(120))
        let told = all.output.split(separator: "\n").filter { $0.hasPrefix("FAIL  ") }
            .map { $0.dropFirst(6).prefix { $0 != ":" } }
        let expected: [String] = (1...3).flatMap { number in names.map { "\($0)-\(number)" } }
        #expect(told.map(String.init) == expected, "\(all)")
        #expect(all.exitCode == 1 && all.output.hasSuffix("9 cases, 9 failed\n"), "\(all)")
        let one = try await ProcessRun.run(
            BuiltCommand.path(), ["fixtures", "run", folders[4]], within: .seconds(60))
        #expect(one.exitCode == 1 && one.output.hasSuffix("1 case, 1 failed\n"), "\(one)")
    }

    @Test func `an unrecorded request is reported with the nearest one and what differs`() async throws {
        let folder = try copy("rest-paging")
        try edit(folder + "/exchanges/002-GET-teams.http", "page=2", "page=9")
        let result = try await ShippedCases.run(folder)
        #expect(
            result.problems.contains {
                $0.hasPrefix("unexpected: GET http://127.0.0.1:18201/teams?page=2 was not recorded; the nearest is ")
                    && $0.contains("the parameter page is 2, recorded ")
            }, "\(result.problems)")
        #expect(result.problems.contains("unused: 002-GET-teams.http was recorded, but never requested"))
        #expect(result.problems.contains("Team 4: expected, not found: {\"name\": \"Team 4\", \"city\": \"Lyon\"}"))
    }

    @Test func `an unused exchange fails in strict mode only`() async throws {
        let folder = try copy("rest-paging")
        let text = try String(contentsOfFile: folder + "/exchanges/003-GET-teams.http", encoding: .utf8)
        try text.replacing("page=3", with: "page=4").write(
            toFile: folder + "/exchanges/004-GET-teams.http", atomically: true, encoding: .utf8)
        #expect(
            try await ShippedCases.run(folder).problems == [
                "unused: 004-GET-teams.http was recorded, but never requested"
            ])
        #expect(try await ShippedCases.run(folder, strict: false).passed)
    }

    @Test func `a changed value is reported by table, key and column`() async throws {
        let folder = try copy("rest-paging")
        try edit(folder + "/exchanges/001-GET-teams.http", "\"Team 2\"", "\"The Second\"")
        #expect(
            try await ShippedCases.run(folder).problems == [
                "Team 2, column name: expected \"Team 2\", found \"The Second\""
            ])
    }

    @Test func `update writes what is found, and a second one writes nothing`() async throws {
        let folder = try copy("rest-paging")
        try edit(folder + "/exchanges/001-GET-teams.http", "\"Team 2\"", "\"The Second\"")
        #expect(try await ShippedCases.run(folder, updates: true).wasUpdated)
        let text = try String(contentsOfFile: folder + "/expected.txt", encoding: .utf8)
        #expect(text.contains("2 {\"name\": \"The Second\", \"city\": \"Porto\"}"))
        #expect(try await ShippedCases.run(folder, updates: true).wasUpdated == false)
        #expect(try await ShippedCases.run(folder).passed)
    }

    @Test func `faults happen and are tried again, and minutes of waiting pass at once`() async throws {
        let folder = try copy("rest-errors")
        try edit(folder + "/faults.yml", "Retry-After: 1}", "Retry-After: 110}")
        let clock = ContinuousClock()
        let start = clock.now
        let result = try await ShippedCases.run(folder)
        #expect(result.passed, "\(result.problems)")
        #expect(clock.now - start < .seconds(110), "that long would the wait alone have been")
        let text = try String(contentsOfFile: folder + "/expected.txt", encoding: .utf8)
        #expect(
            text.contains("faults: truncated (002-GET-teams), timeout (003-GET-teams), 503 (003-GET-teams)"), "\(text)")
        #expect(text.contains("tried again: Team 3 times"))

        try FileManager.default.removeItem(atPath: folder + "/faults.yml")
        let without = try await ShippedCases.run(folder)
        #expect(without.problems.contains("step 1: sync, tried again: expected Team 3 times, found nothing"))
    }

    @Test func `a fault that the bridge gives up on fails the entity with the fault's words`() async throws {
        let folder = try copy("rest-paging")
        try "- on: Team page 2\n  then: [timeout, timeout, timeout, timeout]\n".write(
            toFile: folder + "/faults.yml", atomically: true, encoding: .utf8)
        let result = try await ShippedCases.run(folder)
        #expect(result.problems.contains { $0.contains("Team failed") && $0.contains("(a fault of faults.yml)") })
    }

    @Test func `a fault at a place that no request reaches is a problem`() async throws {
        let folder = try copy("rest-paging")
        try "- on: Team page 7\n  then: reset\n".write(
            toFile: folder + "/faults.yml", atomically: true, encoding: .utf8)
        #expect(
            try await ShippedCases.run(folder, strict: false).problems == [
                "faults.yml: the fault on Team page 7 never happened: nothing was requested there"
            ])
    }

    @Test func `nothing connects while a case is replayed`() async throws {
        let port = try SilentPort()
        let folder = try copy("rest-oauth")
        let files =
            [folder + "/bmo.yml"]
            + (try FileManager.default.contentsOfDirectory(atPath: folder + "/exchanges")).map {
                folder + "/exchanges/" + $0
            }
        for file in files { try edit(file, "127.0.0.1:18201", "127.0.0.1:\(port.number)") }
        let result = try await ShippedCases.run(folder)
        #expect(result.passed, "\(result.problems)")
        #expect(!port.wasCalled)

        // The same configuration does connect when it is not replayed.
        let live = try RunningProcess(
            BuiltCommand.path(), ["sync", "--file", folder + "/bmo.yml"],
            environment: ["FIXTURE_CLIENT_SECRET": "x"], directory: self.folder.path)
        try await eventually("a connection") { port.wasCalled }
        _ = try? await live.finish(within: .milliseconds(100))
    }

    @Test func `the command says what failed, and its exit code does`() async throws {
        let folder = try copy("rest-paging")
        let good = try await bmo("fixtures", "run", folder, "--strict")
        #expect(good.exitCode == 0, "\(good)")
        #expect(
            good.output
                == "pass  rest-paging: Three pages are asked for by number, and none after the last.\n1 case, 0 failed\n"
        )
        try edit(folder + "/expected.txt", "\"Oslo\"", "\"Rome\"")
        let bad = try await bmo("fixtures", "run", folder)
        #expect(bad.exitCode == 1)
        #expect(bad.output.contains("      Team 1, column city: expected \"Rome\", found \"Oslo\"\n"), "\(bad)")
        // A line of white space, and one without words, are what differs and no more.
        let text = try String(contentsOfFile: folder + "/expected.txt", encoding: .utf8)
        let start = try #require(text.firstIndex(of: "\n"))
        for line in ["      ", "  : "] {
            try text.replacingCharacters(in: start...start, with: "\n\(line)\n").write(
                toFile: folder + "/expected.txt", atomically: true, encoding: .utf8)
            let blank = try await bmo("fixtures", "run", folder)
            #expect(blank.exitCode == 1 && blank.output.contains("1 case, 1 failed"), "\(blank)")
        }
        try text.write(toFile: folder + "/expected.txt", atomically: true, encoding: .utf8)
        let none = try await bmo("fixtures", "run", "--cases", ShippedCases.folder, "rest-pagin")
        #expect(none.exitCode == 2)
        #expect(none.errorOutput.contains("rest-paging"), "\(none)")
        try edit(folder + "/expected.txt", "\"Rome\"", "\"Oslo\"")
        try "- {on: somewhere, then: reset}\n".write(
            toFile: folder + "/faults.yml", atomically: true, encoding: .utf8)
        let fault = try await bmo("fixtures", "run", folder)
        #expect(fault.exitCode == 2)
        #expect(fault.errorOutput.contains("`on: somewhere` is not a place; use page N"), "\(fault)")
    }
}
