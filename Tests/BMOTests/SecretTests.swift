import BridgeHost
import BridgeTestSupport
import Foundation
import ImportTestSupport
import Mapping
import Model
import RecordBatch
import TestSupport
import Testing

@testable import BMO

/// Secrets are resolved at the last moment, and come out nowhere.
@Suite struct SecretTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func setVariable(_ value: String) -> String {
        let name = "BMO_TEST_" + UUID().uuidString.filter { $0 != "-" }
        setenv(name, value, 1)
        return name
    }

    @Test func `values are encoded as they are`() throws {
        var encoder = ConfigEncoder(directory: folder.path)
        let batch = try encoder.batch([
            "null": nil, "bool": true, "int": 7, "double": 1.5, "text": "a\"b", "list": [1, ["x": []]], "empty": [:],
        ])
        #expect(
            batch.json(0)
                == #"{"null":null,"bool":true,"int":7,"double":1.5,"text":"a\"b","list":[1,{"x":[]}],"empty":{}}"#)
        #expect(encoder.secrets.isEmpty)
    }

    @Test func `a value that is not an object is an empty one`() throws {
        var encoder = ConfigEncoder(directory: folder.path)
        #expect(try encoder.batch(.null).json(0) == "{}")
        #expect(try encoder.batch([1]).json(0) == "{}")
    }

    @Test func `a number keeps its digits`() throws {
        var encoder = ConfigEncoder(directory: folder.path)
        let batch = try encoder.batch(["n": [.decimal("12345678901234567890"), .decimal("1.10"), 7]])
        #expect(batch.json(0) == #"{"n":[12345678901234567890,1.10,7]}"#)
    }

    @Test func `secrets are resolved wherever they stand`() throws {
        try folder.write("from a file\n", to: "token")
        let name = setVariable("from a variable")
        var encoder = ConfigEncoder(directory: folder.path)
        let batch = try encoder.batch([
            "password": .secret(.env(name)), "nested": [["token": .secret(.file("token"))], "plain"],
        ])
        #expect(batch.json(0) == #"{"password":"from a variable","nested":[{"token":"from a file"},"plain"]}"#)
        #expect(encoder.secrets == ["from a variable", "from a file"])
    }

    @Test func `a secret that is not there is named without the others`() throws {
        let name = setVariable("hunter2")
        var encoder = ConfigEncoder(directory: folder.path)
        let error = try #require(throws: SecretError.self) {
            try encoder.batch(["a": .secret(.env(name)), "b": .secret(.env("BMO_TEST_NOT_SET"))])
        }
        #expect(error.code == .missing)
        #expect(error.description.contains("BMO_TEST_NOT_SET"))
        #expect(error.description.contains("hunter2") == false)
        let missing = try #require(throws: SecretError.self) { try encoder.batch(["a": .secret(.file("missing"))]) }
        #expect(missing.description.contains(folder.appending("missing")))
    }

    @Test(arguments: [#"COUNTING_ISOLATION="in_process""#, #"COUNTING_ISOLATION="child_process""#])
    func `nothing that a sync leaves shows a secret`(_ isolation: String) async throws {
        let secret = "hunter2-correct-horse"
        let place = try LibraryWorkspace.counting([isolation])
        let name = setVariable(secret)
        let workspace = try await place.workspace(
            CountingHost.numbers(
                options: "secret: {env: \(name)}, print_at: 1, fail_at: 15, fail_times: 100",
                section: "count: 20, page_size: 10"))
        let report = try await place.sync(workspace)
        let failure = try #require(report.failure(of: "Number"))
        #expect(failure.message == "asked to fail at 15 with *** (tried 4 times)")
        #expect(Set(report.entities[0].warnings) == ["the key *** expires"])
        try await eventually("the bridge's words are logged") {
            place.log.all.contains { $0.contains("logged in with ***") }
        }
        var said = [report.json, failure.description, "\(report)", "\(workspace.configuration)"] + place.log.all
        let file = try place.file()
        for table in ["bmo_progress", "bmo_quarantine", "bmo_runs", "Number"] {
            said += try file.rows("SELECT * FROM \(table)").flatMap { $0 }
        }
        #expect(said.contains { $0.contains("***") })
        #expect(said.filter { $0.contains(secret) || $0.contains("hunter2") }.isEmpty)
    }

    @Test func `a secret of an entitys section is not kept with its place`() async throws {
        let place = try LibraryWorkspace.counting()
        let name = setVariable("hunter2-in-a-section")
        let workspace = try await place.workspace(
            CountingHost.numbers(options: "fail_at: 15, fail_times: 100", section: "count: 20, page_size: 10"))
        var configuration = workspace.configuration
        configuration.model.entities[0].section = [
            "count": 20, "page_size": 10, "token": .secret(.env(name)),
        ]
        let secretive = Workspace(
            configuration: configuration, plugins: workspace.plugins, model: try CompiledModel(configuration.model),
            host: workspace.host, stores: workspace.stores)
        #expect(try await place.sync(secretive).text == "Number failed, 1 pages +10")
        let requests = try place.file().rows("SELECT request FROM bmo_progress")
        #expect(requests.count == 1)
        #expect(requests.filter { $0[0].contains("hunter2") }.isEmpty)
        #expect(try await place.sync(secretive).text == "Number failed after page 1, 0 pages", "it is the same request")
    }

    @Test func `a missing secret fails its entity in words`() async throws {
        let place = try LibraryWorkspace.counting()
        let workspace = try await place.workspace(
            CountingHost.numbers(options: "secret: {env: BMO_TEST_NOT_SET}", section: "count: 3"))
        #expect(workspace.configuration.warnings.count == 1)
        let failure = try #require(try await place.sync(workspace).failure(of: "Number"))
        #expect(failure.code == "configuration")
        #expect(failure.message.contains("the environment variable BMO_TEST_NOT_SET is not set"))
    }
}
