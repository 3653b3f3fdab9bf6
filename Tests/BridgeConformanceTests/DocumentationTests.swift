import BridgeConformance
import Foundation
import TestSupport
import Testing

@Suite struct DocumentationTests {
    @Test func `every check is explained`() throws {
        let text = try String(contentsOfFile: PackageFolder.path + "/docs/conformance.md", encoding: .utf8)
        let listed = text.split(separator: "\n").compactMap { line -> String? in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 3, cells[0].contains(".") else { return nil }
            return "\(cells[0]) \(cells[1])"
        }
        #expect(listed == ConformanceRun.catalog.map { "\($0.id) \($0.level.rawValue)" })
    }
}
