/// What holds for every test: its name is a plain sentence, a skip gives its reason, and it cannot pass without a check.
enum TestRules {
    /// What is wrong with the tests of a file.
    static func violations(in text: String, path: String) -> [String] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var violations: [String] = []
        var isTest = false
        /// The indentation of the statements of the test that the line is in.
        var body: Int?
        for (number, line) in lines.enumerated() {
            let code = line.drop { $0 == " " }
            let indentation = line.count - code.count
            let place = "\(path):\(number + 1)"
            if code.contains(".allSatisfy") {
                violations.append("\(place): allSatisfy passes an empty collection; use nonEmptyAllSatisfy")
            }
            if code.hasPrefix("@Test") { isTest = true }
            if isTest, let name = name(in: code) {
                if !name.hasPrefix("`") { violations.append("\(place): a test is named by a sentence in backticks") }
                violations += PlainEnglish.found(in: name, at: place)
                isTest = false
                body = indentation + 4
            } else if let statement = body {
                if code == "}", indentation == statement - 4 { body = nil }
                if indentation == statement, code.hasPrefix("guard "), code.hasSuffix("else { return }") {
                    violations.append("\(place): a test that returns early passes; use #require or .enabled(if:)")
                }
            }
        }
        let reasons = text.ranges(of: /\.enabled\(\s*if: [^\n]*,\s*"/).count
        if text.ranges(of: ".enabled(").count > reasons { violations.append("\(path): a skip needs a reason") }
        return violations
    }

    private static func name(in code: Substring) -> Substring? {
        if code.hasPrefix("func ") { return code.dropFirst(5) }
        guard code.hasPrefix("@Test") else { return nil }
        return code.ranges(of: " func ").last.map { code[$0.upperBound...] }
    }
}
