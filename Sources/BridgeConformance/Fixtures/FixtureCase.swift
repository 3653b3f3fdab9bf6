internal import Foundation
internal import Model
internal import TextFormats

/// A case: a folder with a configuration, the recorded exchanges of some commands, and the expected results.
///
/// - `bmo.yml`: the configuration.
/// - `README.md`: the purpose of the case in the first line.
/// - `exchanges/`: a file per exchange in order; in `exchanges/2/` and so on if there are several steps.
/// - `expected.txt`: the report of each step, then the tables.
/// - `faults.yml`, optional: the faults to inject before exchanges.
/// - `case.yml`, optional: the steps (usually `sync` alone), the time of the recording, and addresses.
public struct FixtureCase: Sendable {
    /// The folder's absolute path.
    public let folder: String
    /// The arguments of each command that it runs.
    package var steps: [[String]] = [["sync"]]
    /// The time of each step's recording, in seconds since 1970; the last one counts for all further steps.
    package var recorded: [Int64] = []
    /// The server addresses that are secrets in the configuration.
    package var values: [(key: String, value: String)] = []

    /// The folder's name.
    public var name: String { folder.split(separator: "/").last.map(String.init) ?? folder }
    var config: String { folder + "/bmo.yml" }
    var expected: String { folder + "/expected.txt" }
    var settings: String { folder + "/case.yml" }
    var readme: String { folder + "/README.md" }

    /// The case's purpose in one line.
    public var purpose: String {
        let text = (try? String(contentsOfFile: readme, encoding: .utf8)) ?? ""
        let line = text.split(whereSeparator: \.isNewline).first ?? ""
        return String(line.drop { $0 == "#" || $0 == " " })
    }

    /// The reason why a case cannot be run or recorded.
    public struct Fault: Error, CustomStringConvertible {
        /// The error with its location and remedy.
        public let description: String

        init(_ description: String) { self.description = description }
    }

    init(new folder: String) { self.folder = URL(fileURLWithPath: folder).standardizedFileURL.path }

    /// Reads a case.
    ///
    /// - Throws: ``Fault``.
    public init(folder: String) throws {
        self.init(new: folder)
        guard FileManager.default.fileExists(atPath: config) else {
            throw Fault("\(folder) is not a case: it has no bmo.yml; `bmo fixtures record` creates one")
        }
        guard let text = try? String(contentsOfFile: settings, encoding: .utf8) else { return }
        guard let value = ConfigurationFile(text: text, path: settings).value, let members = value.members else {
            throw Fault("\(settings) is not YAML of the form `steps: [sync, sync]`")
        }
        for (key, value) in members {
            switch key {
            case "steps":
                steps = try (value.array ?? []).map { try Self.step($0, settings) }
                if steps.isEmpty { throw Fault("\(settings): steps is not a list of commands such as [sync, sync]") }
            case "recorded":
                recorded = (value.array ?? [value]).compactMap { $0.int ?? $0.string.flatMap(Self.seconds) }
            case "values":
                values = (value.members ?? []).compactMap { pair in pair.value.string.map { (pair.key, $0) } }
            default: throw Fault("\(settings): unknown key \"\(key)\"; valid: recorded, steps, values")
            }
        }
    }

    private static func step(_ value: ConfigValue, _ file: String) throws -> [String] {
        let words =
            try value.string.map(CommandWords.split)
            ?? value.array?.compactMap { $0.string ?? $0.int.map { "\($0)" } }
        guard let words, !words.isEmpty, words.count == value.array?.count ?? words.count else {
            throw Fault("\(file): a step is a command such as `sync` or [list, Country]")
        }
        if let fault = endlessness(of: words) { throw Fault("\(file): \(fault)") }
        return words
    }

    /// Returns the fault of a step that would never end by itself; nil for any other.
    static func endlessness(of step: [String]) -> String? {
        guard let command = step.first, ["watch", "serve"].contains(command) else { return nil }
        return "the step `\(command)` does not end by itself; write `sync` or `push` for what it does in a round"
    }

    private static func seconds(_ text: String) -> Int64? {
        ISODate(text).map { $0.microseconds / 1_000_000 }
    }

    /// Returns when a step was recorded, in seconds since 1970; nil if that is not known.
    func time(of step: Int) -> Int64? { recorded.prefix(step + 1).last }

    /// Returns the folder of a step's exchanges.
    func exchanges(_ step: Int) -> String {
        steps.count == 1 ? folder + "/exchanges" : folder + "/exchanges/\(step + 1)"
    }

    /// Returns the names of a step's exchanges in order.
    ///
    /// - Throws: ``Fault`` for an exchange that a replay would ignore.
    func names(_ step: Int) throws -> [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: exchanges(step))) ?? []
        let names = all.filter { $0.hasSuffix(".http") }.sorted()
        let faults = names.filter { $0.hasPrefix(".") || $0.contains(where: \.isWhitespace) }.map { name in
            let other = name.drop { $0 == "." }.split(whereSeparator: \.isWhitespace).joined(separator: "-")
            return "\(exchanges(step))/\(name): an exchange's name has no space, and no dot in front; call it \(other)"
        }
        guard faults.isEmpty else { throw Fault(faults.joined(separator: "\n")) }
        return names
    }

    /// Validates the first line of each exchange, `# api: Team`, against the configured bridges.
    ///
    /// - Throws: ``Fault`` for an exchange that no bridge would request.
    func check(_ names: [String], step: Int, bridges: [String]) throws {
        let faults = names.compactMap { name -> String? in
            let path = "\(exchanges(step))/\(name)"
            guard let text = try? String(contentsOfFile: path, encoding: .utf8),
                let line = text.split(separator: "\n").first
            else { return nil }
            let bridge = line.hasPrefix("# ") ? line.dropFirst(2).prefix { $0 != ":" } : ""
            guard !bridges.contains(String(bridge)) else { return nil }
            let what = bridge.isEmpty ? "the first line names no bridge" : "there is no bridge \"\(bridge)\""
            return "\(path):1: \(what); write `# \(bridges.first ?? "NAME")`, of: \(bridges.joined(separator: ", "))"
        }
        guard faults.isEmpty else { throw Fault(faults.joined(separator: "\n")) }
    }

    /// The contents of `case.yml`; empty if the case needs no settings.
    var settingsText: String {
        var text = ""
        if !recorded.isEmpty {
            let times = recorded.map { "\"\(Date(timeIntervalSince1970: Double($0)).formatted(.iso8601))\"" }
            let list = times.joined(separator: ", ")
            text += Set(times).count == 1 ? "recorded: \(times[0])\n" : "recorded: [\(list)]\n"
        }
        if steps != [["sync"]] {
            text += "steps:\n"
            for step in steps {
                text += "  - " + ConfigValue.array(step.map { .string($0) }).json.replacing("\n", with: " ") + "\n"
            }
        }
        if !values.isEmpty {
            text += "values:\n"
            for (key, value) in values {
                text += "  \(ConfigValue.string(key).json): \(ConfigValue.string(value).json)\n"
            }
        }
        return text
    }

    /// Returns the folders of the cases in a folder, sorted by name.
    public static func all(in folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.sorted().map { folder + "/" + $0 }
            .filter { FileManager.default.fileExists(atPath: $0 + "/bmo.yml") }
    }
}
