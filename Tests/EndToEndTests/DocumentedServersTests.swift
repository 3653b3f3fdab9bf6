import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// The configurations of docs/rest-zoo.md, which people copy.
    @Suite struct DocumentedServersTests {
        @Test func `each configuration of the page of servers is one`() async throws {
            let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/rest-zoo.md")
            let text = try String(contentsOf: page, encoding: .utf8)
            let blocks = text.matches(of: /```yaml\n(.*?)```/.dotMatchesNewlines()).map { String($0.1) }
            #expect(blocks.count > 30)
            for block in blocks {
                let folder = try TemporaryFolder()
                try folder.write(block, to: "bmo.yml")
                let secrets = block.matches(of: /env: ([A-Z_]+)/).map { (String($0.1), "s3cret") }
                let check = try await ProcessRun.run(
                    BuiltCommand.path(), ["check"],
                    environment: Dictionary(secrets, uniquingKeysWith: { one, _ in one }),
                    directory: folder.path)
                #expect(check.exitCode == 0, "\(block)\n\(check)")
                // The page says that this warning is right there.
                #expect(
                    check.errorOutput.isEmpty || check.errorOutput.contains("rows that only source \"top\""),
                    "\(block)\n\(check)")
            }
        }
    }
}
