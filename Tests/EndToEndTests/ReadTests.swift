import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// What was synced, read back through the command: no server is needed any more.
    @Suite struct ReadTests {
        @Test func `list and get give what was synced, when the servers have gone`() async throws {
            let workplace = try await RemoteWorkspace.demo()
            let sync = try await workplace.bmo("sync", "Country")
            try #require(sync.exitCode == 0, "\(sync)")
            try await workplace.server.stop(.rest)

            let list = try await workplace.bmo("list", "Country", "--json")
            #expect(list.exitCode == 0, "\(list)")
            let rows = try #require(JSONSerialization.jsonObject(with: Data(list.output.utf8)) as? [[String: Any]])
            #expect(rows.count == 249)
            #expect(rows.contains { $0["alpha2"] as? String == "AX" && $0["name"] as? String == "Åland Islands" })

            let one = try await workplace.bmo("get", "Country", "CH", "--json")
            #expect(one.exitCode == 0, "\(one)")
            let row = try #require(JSONSerialization.jsonObject(with: Data(one.output.utf8)) as? [String: Any])
            #expect(row["officialName"] as? String == "Swiss Confederation")

            let none = try await workplace.bmo("get", "Country", "XX")
            #expect(none.exitCode == 1, "\(none)")
            none.expectMessages("Country", "XX")
        }
    }
}
