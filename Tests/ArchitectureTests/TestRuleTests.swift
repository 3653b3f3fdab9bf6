import Testing

@Suite struct TestRuleTests {
    @Test func `no test can pass without a check or hides its reason`() throws {
        let files = try SourceTree.files(in: "Tests").filter {
            $0.path.hasSuffix("Tests.swift") && !$0.path.hasSuffix("/TestRuleTests.swift")
        }
        #expect(files.count > 200)
        let violations = files.flatMap { TestRules.violations(in: $0.text, path: $0.path) }
        #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }

    @Test(arguments: [
        ("    @Test func `a is b`() {\n        guard a else { return }\n    }", "2: a test that returns early passes"),
        ("    @Test(arguments: [1])\n    func aIsB(a: Int) {\n    }", "2: a test is named by a sentence"),
        ("    @Test func `nobody asks`() {", "1: \"nobody\": name who it is"),
        ("#expect(a.allSatisfy { $0 })", "1: allSatisfy passes an empty collection"),
        ("@Suite(.enabled(if: isInstalled))", " a skip needs a reason"),
    ])
    func `a test that breaks a rule is found`(source: String, expected: String) {
        let violations = TestRules.violations(in: source, path: "x")
        #expect(violations.count == 1 && violations.first?.hasPrefix("x:\(expected)") == true, "\(violations)")
    }

    @Test(arguments: [
        "    @Test func `a is b`() {\n        run {\n            guard a else { return }\n        }\n    }",
        "    func check() {\n        guard a else { return }\n    }",
        "@Suite(\n    .enabled(\n        if: isInstalled,\n        \"it is not installed\"))",
        "a.nonEmptyAllSatisfy { $0 }",
    ])
    func `a test that keeps the rules is accepted`(source: String) {
        #expect(TestRules.violations(in: source, path: "x") == [])
    }
}
