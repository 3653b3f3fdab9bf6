import StoreConformance
import StoreTestSupport
import TestSupport
import Testing

/// The kit over the stores of this package.
@Suite struct StoreConformanceTests {
    @Test(arguments: StoreKind.allCases, StoreConformanceRun.catalog)
    func `a store keeps the contract`(_ kind: StoreKind, _ check: String) async throws {
        let place = try StorePlace(kind, name: "conformance")
        let report = await StoreConformanceRun(provider: place.stores, location: place.location).run(only: [check])
        #expect(report.checks == [check])
        #expect(report.findings == [], "\(report.findings.map(\.description).joined(separator: "\n"))")
    }

    /// Says in the report of a run that the suites over all stores left PostgreSQL out.
    @Test(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
    func `the suites over all stores include PostgreSQL`() {
        #expect(StoreKind.allCases.contains(.postgresql))
    }

    @Test func `each check has a name of its own`() {
        #expect(Set(StoreConformanceRun.catalog).count == StoreConformanceRun.catalog.count)
        #expect(StoreConformanceRun.catalog.count > 40)
    }
}
