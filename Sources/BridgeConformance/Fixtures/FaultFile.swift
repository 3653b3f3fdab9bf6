internal import Foundation
internal import Model

/// What goes wrong in a replay: the file `faults.yml` of a case.
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
        /// What the file calls it.
        var words: String
        /// The step that it belongs to, from 0; nil for all.
        var step: Int?
        /// As the kit reads it.
        var value: ConfigValue
    }

    private(set) var rules: [Rule] = []

    static let kinds = ["timeout", "reset", "truncated", "slow"]

    init() {}

    /// Reads the file, if it is there.
    ///
    /// - Throws: ``FixtureCase/Fault``.
    init(path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            let list = ConfigurationFile.value(ofYAML: text)?.array
        else { throw FixtureCase.Fault("\(path) is no YAML list of faults such as `- {on: page 3, then: timeout}`") }
        rules = try list.map { value in
            for (key, _) in value.members ?? [] where !["on", "then", "step"].contains(key) {
                throw FixtureCase.Fault("\(path): unknown key \"\(key)\"; valid: on, step, then")
            }
            guard let place = value["on"]?.string, let then = value["then"] else {
                throw FixtureCase.Fault("\(path): a fault has `on` and `then`")
            }
            let members =
                try Self.place(place, path) + [
                    ("then", .array(try (then.array ?? [then]).map { try Self.fault($0, path) }))
                ]
            return Rule(words: place, step: value["step"]?.int.map { Int($0) - 1 }, value: .object(members))
        }
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
            "\(path): `on: \(text)` is no place; use page N, ENTITY page N, exchange N, or METHOD and the end of a URL")
    }

    private static func fault(_ value: ConfigValue, _ path: String) throws -> ConfigValue {
        if let word = value.string, kinds.contains(word) { return .object([("kind", .string(word))]) }
        if let slow = value["slow"] {
            return .object([("kind", .string("slow")), ("seconds", slow)])
        }
        if let status = value["status"] {
            for (key, _) in value.members ?? [] where !["status", "headers", "body"].contains(key) {
                throw FixtureCase.Fault("\(path): unknown key \"\(key)\" beside status; valid: body, headers")
            }
            let headers = (value["headers"]?.members ?? []).map { ($0.key, ConfigValue.string(scalar($0.value))) }
            return .object([
                ("kind", .string("answer")), ("status", .string(scalar(status))), ("headers", .object(headers)),
                ("body", .string(value["body"]?.string ?? "")),
            ])
        }
        throw FixtureCase.Fault(
            "\(path): no fault is called \(value.string ?? value.json); there are \(kinds.joined(separator: ", ")), "
                + "{slow: SECONDS} and {status: 503, headers: {Retry-After: 1}, body: TEXT}")
    }

    private static func scalar(_ value: ConfigValue) -> String { value.string ?? value.json }

    /// The rules of a step, each with its place in the file.
    func rules(of step: Int) -> [(index: Int, value: ConfigValue)] {
        rules.enumerated().filter { $0.element.step == nil || $0.element.step == step }.map { index, rule in
            (index, .object((rule.value.members ?? []) + [("rule", .int(Int64(index)))]))
        }
    }
}
