import Testing

/// docs/security.md names the test of each defence: one that is renamed or removed must not leave an empty promise there.
@Suite struct SecurityPageTests {
    @Test func `each test that the security page names is in the file that it names`() throws {
        let page = try SourceTree.text(of: "docs/security.md")
        let links = page.matches(of: /\[`([^`]+)`\]\(\.\.\/(Tests\/[A-Za-z\/]+\.swift)\)/)
        #expect(links.count > 25)
        for link in links {
            let test = try SourceTree.text(of: String(link.output.2))
            let name = String(link.output.1)
            #expect(test.contains("func `\(name)`(") || test.contains("func \(name)("), "\(link.output.0)")
        }
    }
}
