import StoreConformance
import StoreTestSupport
import Testing

/// The kit over stores with faults: each is found.
@Suite struct FaultyStoresTests {
    @Test(arguments: StoreFault.allCases)
    func `the kit finds a fault`(_ fault: StoreFault) async throws {
        let place = try StorePlace(.memory, name: "faulty")
        let stores = WrappedStores(place.stores, with: fault)
        let report = await StoreConformanceRun(provider: stores, location: place.location).run(only: [fault.check])
        let finding = try #require(report.findings.first, "\(fault) was not found")
        #expect(finding.check == fault.check)
        #expect(finding.expected != finding.found)
    }
}
