import Foundation
import TestSupport
import Testing

/// Code in the documentation that a comment in its first line says where it is from: it is compiled and run there.
@Suite struct ExampleCodeTests {
    @Test(arguments: ["docs/bridges.md", "docs/observation.md"])
    func `each line of such code is in the file that it names`(page: String) throws {
        let text = try String(contentsOfFile: PackageFolder.path + "/" + page, encoding: .utf8)
        var count = 0
        for block in text.split(separator: "```swift\n// from ").dropFirst() {
            let lines = block.prefix(upTo: block.firstRange(of: "```")?.lowerBound ?? block.endIndex)
                .split(separator: "\n")
            let file = try #require(lines.first)
            let source = try String(contentsOfFile: "\(PackageFolder.path)/\(file)", encoding: .utf8)
                .split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            for line in lines.dropFirst() {
                let line = line.trimmingCharacters(in: .whitespaces)
                #expect(line == "// ..." || source.contains(line), "\(page): \(file) has no \(line)")
            }
            count += 1
        }
        #expect(count > 0, "\(page) has no such code")
    }
}
