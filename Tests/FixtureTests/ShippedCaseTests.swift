import BridgeConformance
import Foundation
import TestSupport
import Testing

/// All cases of Fixtures/cases: every exchange is used, nothing else is asked for, and the rows are the expected ones.
@Suite struct ShippedCaseTests {
    static let cases = FixtureCase.all(in: ShippedCases.folder)

    @Test(arguments: cases)
    func `a shipped case passes in strict mode`(folder: String) async throws {
        let result = try await ShippedCases.run(folder)
        #expect(result.passed, "\(result.problems.joined(separator: "\n"))")
    }

    @Test func `there are cases for each bridge, each with a line on what it proves`() throws {
        let cases = try Self.cases.map { try FixtureCase(folder: $0) }
        for word in [
            "rest-", "soap-", "smb-", "singer-", "relationships", "-incremental", "-paging", "-errors", "-happy",
        ] {
            #expect(cases.contains { $0.name.contains(word) }, "no case \(word)")
        }
        for fixture in cases { #expect(fixture.purpose.count > 30, "\(fixture.name) does not say what it proves") }
    }

    @Test func `no shipped case names a folder of the machine it was recorded on, or holds what looks like a secret`()
        throws
    {
        let files = try FileManager.default.subpathsOfDirectory(atPath: ShippedCases.folder)
            .filter { $0.hasSuffix(".http") || $0.hasSuffix(".txt") || $0.hasSuffix(".yml") }
        #expect(files.count > 100)
        for name in files {
            let text = try String(contentsOfFile: ShippedCases.folder + "/" + name, encoding: .utf8)
            #expect(!text.contains("/tmp/") && !text.contains("s3cr3t"), "\(name)")
        }
    }
}
