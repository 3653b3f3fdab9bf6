import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// A document whose operations require different credentials becomes a bridge for each of them.
    @Suite struct MixedSecurityTests: TestWorkspace {
        private let server: RemoteWorkspace<RemoteServer>
        var folder: TemporaryFolder { server.folder }
        let environment = [
            "SHOP_KEY": "key-of-the-shop", "SHOP_SHOP_OAUTH_CLIENT_ID": "client",
            "SHOP_SHOP_OAUTH_CLIENT_SECRET": "client-secret", "SHOP_PARTNER_KEY_APP_KEY": "partner-key",
            "SHOP_PARTNER_KEY_APP_X_APP": "app-7",
        ]

        init() async throws { server = try await RemoteWorkspace("mixed-auth.py") }

        private func introspect(_ arguments: String...) async throws -> String {
            let run = try await bmo(
                ["introspect", "rest", "--openapi", server.url + "/openapi.json", "-o", "bmo.yml"] + arguments)
            #expect(run.exitCode == 0, "\(run)")
            return try String(contentsOfFile: folder.appending("bmo.yml"), encoding: .utf8)
        }

        @Test func `each operation gets its own credentials and no others`() async throws {
            let text = try await introspect()
            for line in [
                "  shop:\n", "auth: {type: api_key, value: {env: SHOP_KEY}, header: X-Key}", "  shop-shop-oauth:\n",
                "client_id: {env: SHOP_SHOP_OAUTH_CLIENT_ID}", "  shop-partner-key-app:\n",
                "headers: {X-App: {env: SHOP_PARTNER_KEY_APP_X_APP}}", "  shop-public:\n",
                "# no auth: the operations require none",
            ] { #expect(text.contains(line), "no \(line) in\n\(text)") }
            let check = try await bmo("check")
            #expect(check.exitCode == 0, "\(check)\n\(text)")
            #expect(check.output.contains("4 bridges, 7 entities, no faults"), "\(check)")
            let sync = try await bmo("sync")
            #expect(sync.exitCode == 0, "\(sync)\n\(text)")
            let lines = try await bmo("sync", "Line")
            #expect(lines.exitCode == 0, "\(lines)")
            for entity in ["Pet", "Toy", "Order", "Deal", "News", "Visit"] {
                #expect(try await server.query("SELECT count(*) FROM \"\(entity)\"") == "3", "\(entity)")
            }
            // The scan of each order has the credentials of the orders.
            #expect(try await server.query("SELECT count(*), count(DISTINCT \"order\") FROM Line") == "9|3")
        }

        @Test func `credentials of the user are those of the main part`() async throws {
            let text = try await introspect("--auth", "header:X-Key:SHOP_KEY", "--header", "Accept-Language:en")
            let bridges = text.components(separatedBy: "\nentities:")[0].components(separatedBy: "plugin: rest")
            try #require(bridges.count == 5, "\(text)")
            #expect(bridges[1].contains("SHOP_KEY}"), "\(text)")
            #expect(bridges.dropFirst().nonEmptyAllSatisfy { $0.contains("Accept-Language: en") }, "\(text)")
            #expect(bridges.dropFirst(2).nonEmptyAllSatisfy { !$0.contains("SHOP_KEY}") }, "\(text)")
            #expect(!bridges[4].contains("      auth:"), "\(text)")
            #expect(bridges[3].contains("X-App: {env: SHOP_PARTNER_KEY_APP_X_APP}"), "\(text)")
            let sync = try await bmo("sync")
            #expect(sync.exitCode == 0, "\(sync)\n\(text)")
        }

        @Test func `a credential in a header field of the user is sent with the main part alone`() async throws {
            let text = try await introspect("--header", "X-Api-Key:hunter22", "--header", "Accept-Language:en")
            let bridges = text.components(separatedBy: "\nentities:")[0].components(separatedBy: "plugin: rest")
            try #require(bridges.count == 5, "\(text)")
            #expect(bridges[1].contains("X-Api-Key: {env: X_API_KEY}") && !text.contains("hunter22"), "\(text)")
            #expect(bridges.dropFirst(2).nonEmptyAllSatisfy { !$0.contains("X_API_KEY") }, "\(text)")
            #expect(bridges.dropFirst(2).nonEmptyAllSatisfy { $0.contains("Accept-Language: en") }, "\(text)")
        }
    }
}
