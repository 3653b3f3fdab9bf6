import BridgeKit
import Foundation
import Testing
import TestSupport

@testable import SMBBridge

/// Walks over recordings: each folder of Fixtures/smb has a share, a section of a config, and what a walk over it gives.
@Suite struct RecordedShareTests {
    private static let folder = PackageFolder.path + "/Fixtures/smb"
    static let cases: [String] = (try? FileManager.default.contentsOfDirectory(atPath: folder).sorted()) ?? []

    @Test func `there are recordings`() { #expect(Self.cases.count >= 6) }

    @Test(arguments: cases)
    func `a recorded share gives the rows, the quarantine and the end that its fixture says`(name: String) throws {
        let folder = Self.folder + "/" + name
        let share = try RecordedShare(contentsOf: folder + "/share.json")
        let text = try Data(contentsOf: URL(fileURLWithPath: folder + "/section.json"))
        let section = try #require(JSONSerialization.jsonObject(with: text) as? [String: Any])
        let settings = section.mapValues { value -> Setting in
            switch value {
            case let list as [String]: .list(list)
            case let number as NSNumber where CFNumberIsBool(number): .bool(number.boolValue)
            case let number as NSNumber: .integer(number.intValue)
            default: .text("\(value)")
            }
        }
        var lines: [String] = []
        do {
            let request = FetchRequest(entity: "Row", section: BridgeOptions(settings), pageSize: 1000)
            let source = try SMBBridge.source(request, share: share)
            let walk = try Walk(source)
            for record in walk.records {
                let members = record.sorted { $0.key < $1.key }
                    .filter { $0.value != "null" && $0.value != "false" && $0.key != "path_key" }
                lines.append("record " + members.map { "\($0.key)=\($0.value)" }.joined(separator: " "))
            }
            lines += walk.rejected.map { "rejected \($0.reason)" }
            lines += walk.warnings.map { "warning \($0)" }
            lines += walk.spared.map { "spared \($0)" }
            lines.append("complete \(walk.isComplete)")
        } catch let error as BridgeError {
            lines.append("error \(error.code.rawValue): \(error.message), retryable \(error.isRetryable)")
        }
        lines += share.log.map { "asked \($0)" }
        let found = lines.joined(separator: "\n") + "\n"
        let file = URL(fileURLWithPath: folder + "/expected.txt")
        if ProcessInfo.processInfo.environment["BMO_RECORD"] != nil { try Data(found.utf8).write(to: file) }
        #expect(found == String(decoding: try Data(contentsOf: file), as: UTF8.self))
    }

    /// JSON's true and false come as numbers of their own kind.
    private func CFNumberIsBool(_ number: NSNumber) -> Bool { String(cString: number.objCType) == "c" }
}
