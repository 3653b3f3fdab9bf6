import Foundation
import PostgreSQLStore
import StoreConformance
import TestSupport
import Testing

/// The kit over PostgreSQL while it refuses what another engine does not have.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct EngineTests {
    /// What the kit asks for and an engine cannot do, which the store has to refuse.
    private static let refused: [PostgreSQLEngine: Set<String>] = [
        .cockroachdb: ["a-migration-keeps-rows", "a-dry-run-leaves-nothing"],
        .yugabytedb: ["a-migration-keeps-rows", "a-dry-run-leaves-nothing"],
    ]
    /// BMO_TEST_POSTGRESQL=postgresql://.../ runs the kit over a server of one's own, such as a cluster of Citus.
    private static let other = ProcessInfo.processInfo.environment["BMO_TEST_POSTGRESQL"]

    @Test(arguments: PostgreSQLEngine.allCases)
    func `a store on another engine keeps the contract`(_ engine: PostgreSQLEngine) async throws {
        let refused = Self.refused[engine] ?? []
        let checks = Set(StoreConformanceRun.catalog).subtracting(refused)
        let run = StoreConformanceRun(provider: PostgreSQLStores(), location: try engine.newLocation())
        let report = await run.run(only: checks)
        #expect(Set(report.checks) == checks)
        #expect(report.findings == [], "\(report.findings.map(\.description).joined(separator: "\n"))")
        for check in refused {
            let finding = try #require(await run.run(only: [check]).findings.first)
            let isRefused = ["cannot change tables in a transaction", "a dry run cannot create or change tables"]
                .contains { finding.found.contains($0) }
            #expect(isRefused, "\(finding)")
        }
    }

    @Test(.enabled(if: other != nil, "set BMO_TEST_POSTGRESQL to the address of a server, which ends in schema=NAME"))
    func `a store on another server keeps the contract`() async throws {
        let run = StoreConformanceRun(provider: PostgreSQLStores(), location: try #require(Self.other))
        let findings = await run.run().findings
        #expect(findings == [], "\(findings.map(\.description).joined(separator: "\n"))")
    }
}
