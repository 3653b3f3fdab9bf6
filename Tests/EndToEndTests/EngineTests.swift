import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// The built command with a PostgreSQL server that refuses what another engine does not have.
    @Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
    struct EngineTests {
        @Test(arguments: PostgreSQLEngine.allCases)
        func `objects are created, pushed, synced and restored on another engine`(_ engine: PostgreSQLEngine)
            async throws
        {
            let place = try RemoteWorkspace(of: NoteServer())
            let location = try engine.newLocation()
            let schema = location.split(separator: "=").last ?? ""
            func rows(_ sql: String) throws -> [String] {
                try PostgreSQLServer.shared.get().rows(sql.replacing("%", with: schema))
            }
            try place.folder.write(
                place.server.configuration().replacing("version: 1\n", with: "version: 1\ndatabase: \(location)\n"),
                to: "bmo.yml")
            try await place.expect("create", "Topic", "--set", "name=weather")
            try await place.expect("create", "Note", "--set", "text=rain", "--set", "topic=-1")
            #expect(try rows(#"SELECT text, topic FROM %."Note""#) == ["rain|-1"])
            try await place.expect("push")
            // The remote's keys have replaced the temporary ones, in the references too.
            #expect(
                try rows(#"SELECT n.text, t.name FROM %."Note" n JOIN %."Topic" t ON t.id = n.topic"#) == [
                    "rain|weather"
                ])
            try await place.expect("sync", "-q")
            try await place.expect("update", "Note", "1", "--set", "text=snow", "--push")
            try await place.server.change(1, #"{"text": "hail"}"#)
            try await place.expect("sync", "-q")
            #expect(try rows(#"SELECT text FROM %."Note""#) == ["hail"])
            let run = try #require(try rows("SELECT max(run) FROM %.bmo_changes").first)
            try await place.expect("undo", run)
            #expect(try rows(#"SELECT text FROM %."Note""#) == ["snow"])
            let doctor = try await place.bmo("doctor")
            #expect(doctor.allOutput.contains("the server is \(engine.rawValue)"), "\(doctor)")
        }
    }
}
