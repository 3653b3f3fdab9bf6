internal import Foundation
internal import Model

/// The faults of a replay: the file `faults.yml` of a case.
///
/// ```yaml
/// - on: page 3
///   then: [timeout, {status: 503, headers: {Retry-After: 1}}]
/// - on: Country page 2
///   then: truncated
/// - on: GET /users?page=2
///   step: 2
///   then: reset
/// ```
struct FaultFile {
    struct Rule {
        /// The exchange as the file names it.
        var words: String
        /// The step that it applies to, from 0; nil for all.
        var step: Int?
        /// The rule in the form that BridgeKit reads.
        var value: ConfigValue
        /// Whether it applies only to replays, as does a rule that slows or that names a file.
        var isForReplays: Bool
    }

    private(set) var rules: [Rule] = []

    static let kinds = ["timeout", "reset", "truncated", "slow"]

    init() {}

    /// Reads the file if it exists.
    ///
    /// - Parameter steps: The number of steps in the case.
    /// - Throws: ``FixtureCase/Fault`` with the file and the line.
    init(path: String, steps: Int) throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            let list = ConfigurationFile(text: text, path: path).value?.array
        else { throw FixtureCase.Fault("\(path):1: not a YAML list of faults such as `- {on: page 3, then: timeout}`") }
        let lines = Self.lines(of: text)
        rules = try list.enumerated().map { index, value in
            try Self.rule(value, steps: steps, "\(path):\(index < lines.count ? lines[index] : 1)")
        }
    }

    /// Returns the lines on which the list's elements start; empty for a list in brackets.
    private static func lines(of text: String) -> [Int] {
        let all = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
            let indent = line.prefix { $0 == " " }.count
            let rest = line.dropFirst(indent)
            return rest == "-" || rest.hasPrefix("- ") ? (line: index + 1, indent: indent) : nil
        }
        let least = all.first?.indent
        return all.filter { $0.indent == least }.map(\.line)
    }

    private static func rule(_ value: ConfigValue, steps: Int, _ path: String) throws -> Rule {
        for (key, _) in value.members ?? [] where !["on", "then", "step"].contains(key) {
            throw FixtureCase.Fault("\(path): unknown key \"\(key)\"; valid: on, step, then")
        }
        guard let place = value["on"]?.string, let then = value["then"] else {
            throw FixtureCase.Fault("\(path): a fault has `on` and `then`")
        }
        var step: Int?
        if let number = value["step"] {
            guard let chosen = number.int, chosen > 0, chosen <= steps else {
                throw FixtureCase.Fault(
                    "\(path): `step: \(scalar(number))` is not a step; the case has \(steps == 1 ? "step 1" : "steps 1 to \(steps)")"
                )
            }
            step = Int(chosen) - 1
        }
        let list = then.array ?? [then]
        guard !list.isEmpty else { throw FixtureCase.Fault("\(path): `then` names no fault; there are \(choices)") }
        let faults = try list.map { try fault($0, path) }
        let at = try Self.place(place, path)
        let isForReplays =
            at.contains { $0.key == "exchange" } || faults.contains { $0["kind"]?.string == "slow" }
        return Rule(
            words: place, step: step, value: .object(at + [("then", .array(faults))]), isForReplays: isForReplays)
    }

    private static func place(_ text: String, _ path: String) throws -> [(key: String, value: ConfigValue)] {
        let words = text.split(separator: " ").map(String.init)
        func number(_ word: String?) -> ConfigValue? { word.flatMap { Int64($0) }.flatMap { $0 > 0 ? .int($0) : nil } }
        if let index = words.firstIndex(where: { $0 == "page" || $0 == "request" }), index + 1 < words.count,
            let page = number(words[index + 1])
        {
            if index == 0, words.count == 2 { return [("request", page)] }
            if index == 1, words.count == 3 { return [("entity", .string(words[0])), ("request", page)] }
            if index == 0, words.count == 4, words[2] == "of" {
                return [("entity", .string(words[3])), ("request", page)]
            }
        }
        if words.count == 2, words[0] == "exchange", let exchange = number(words[1]) { return [("exchange", exchange)] }
        if words.count > 1, words[0].allSatisfy({ $0.isUppercase }) {
            return [("method", .string(words[0])), ("target", .string(words[1...].joined(separator: " ")))]
        }
        throw FixtureCase.Fault(
            "\(path): `on: \(text)` is not a place; use page N, ENTITY page N, exchange N, or METHOD and the end of a URL"
        )
    }

    private static func fault(_ value: ConfigValue, _ path: String) throws -> ConfigValue {
        if let word = value.string, kinds.contains(word) { return .object([("kind", .string(word))]) }
        if let slow = value["slow"] {
            try known(["slow"], in: value, path)
            guard slow.string == nil, let seconds = Double(scalar(slow)), seconds > 0, seconds <= 86_400 else {
                throw FixtureCase.Fault(
                    "\(path): `slow: \(scalar(slow))` is not a duration; write seconds such as {slow: 90}")
            }
            return .object([("kind", .string("slow")), ("seconds", slow)])
        }
        if let status = value["status"] {
            try known(["status", "headers", "body"], in: value, path)
            let word = scalar(status)
            // For a share, the status is a name from C's <errno.h>.
            let isWord = word.hasPrefix("E") && word.allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber) }
            let isExit = word.hasPrefix("exit ") && Int(word.dropFirst(5)).map((0...255).contains) == true
            guard isWord || isExit || Int(word).map((100...599).contains) == true else {
                throw FixtureCase.Fault(
                    "\(path): `status: \(word)` is not a status; write 100 to 599, of a share EBUSY, of a tap exit 1")
            }
            if let headers = value["headers"], headers.members == nil {
                throw FixtureCase.Fault("\(path): `headers` is not a mapping such as {Retry-After: 1}")
            }
            let headers = (value["headers"]?.members ?? []).map { ($0.key, ConfigValue.string(scalar($0.value))) }
            return .object([
                ("kind", .string("answer")), ("status", .string(word)), ("headers", .object(headers)),
                // A mapping or a list is written as JSON.
                ("body", .string(value["body"].map { $0 == .null ? "" : scalar($0) } ?? "")),
            ])
        }
        throw FixtureCase.Fault("\(path): no fault is called \(value.string ?? value.json); there are \(choices)")
    }

    private static let choices =
        "\(kinds.joined(separator: ", ")), {slow: SECONDS} and {status: 503, headers: {Retry-After: 1}, body: TEXT}"

    private static func known(_ keys: [String], in value: ConfigValue, _ path: String) throws {
        for (key, _) in value.members ?? [] where !keys.contains(key) {
            let others = keys.dropFirst().sorted().joined(separator: ", ")
            throw FixtureCase.Fault(
                "\(path): unknown key \"\(key)\" beside \(keys[0])" + (others.isEmpty ? "" : "; valid: \(others)"))
        }
    }

    private static func scalar(_ value: ConfigValue) -> String { value.string ?? value.json }

    /// Returns the rules of a step with their positions in the file.
    func rules(of step: Int) -> [(index: Int, value: ConfigValue)] {
        rules.enumerated().filter { $0.element.step == nil || $0.element.step == step }.map { index, rule in
            (index, .object((rule.value.members ?? []) + [("rule", .int(Int64(index)))]))
        }
    }
}
