internal import Foundation
internal import Yams

/// How much a bridge has to prove.
public enum ConformanceLevel: String, Sendable, CaseIterable, Comparable, Codable {
    /// It cannot be used otherwise.
    case basic
    /// What users rely on.
    case full
    /// What the best bridges do.
    case strict

    /// From the least to the most.
    public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// What to test and with what: the file `conformance.yml` beside a bridge.
///
/// ```yaml
/// config: bmo.yml            # with a bridge and entities, as for a sync
/// bridge: acme               # default: the config's only one
/// level: strict              # basic, full or strict (default)
/// wrong_options:             # with these in place of the good ones, the check must fail
///   password: wrong
/// writes:                    # an object that may be made, changed and deleted on the remote
///   Thing: {key: id, create: {id: 900, name: new}, update: {name: newer}}
/// skips:                     # a check's identifier, and why it is not made
///   incremental.second: the API has no cursor
/// ```
public struct ConformanceSettings: Sendable {
    /// The configuration's path.
    public var config: String
    /// The bridge's name in it; nil where it has only one.
    public var bridge: String?
    /// How much to check.
    public var level: ConformanceLevel
    /// Reasons, by the identifiers of the checks that are not made.
    public var skips: [String: String]
    /// Options that the remote refuses, by name.
    public var wrongOptions: [String: String]
    /// What may be written, by entity.
    public var writes: [String: Write]

    /// An object for the checks of writes.
    public struct Write: Sendable, Decodable {
        /// The remote name of its key.
        public var key: String
        /// Its first values, by remote names; without the key where the remote gives it in its answer to the create.
        public var create: [String: Scalar]
        /// The values that are changed.
        public var update: [String: Scalar]

        /// An object for the checks of writes.
        public init(key: String, create: [String: Scalar], update: [String: Scalar]) {
            self.key = key
            self.create = create
            self.update = update
        }
    }

    /// A value of an object.
    public enum Scalar: Sendable, Equatable, Decodable, CustomStringConvertible {
        case integer(Int)
        case bool(Bool)
        case text(String)

        /// Reads a scalar of YAML.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(Int.self) {
                self = .integer(value)
            } else if let value = try? container.decode(Bool.self) {
                self = .bool(value)
            } else {
                self = .text(try container.decode(String.self))
            }
        }

        /// The value as JSON has it.
        public var description: String {
            switch self {
            case .integer(let value): "\(value)"
            case .bool(let value): "\(value)"
            case .text(let value): "\"\(value)\""
            }
        }
    }

    /// Why there are no settings.
    public struct Fault: Error, CustomStringConvertible {
        /// What is wrong, where, and what to do.
        public let description: String
    }

    private struct File: Decodable {
        var config: String?
        var bridge: String?
        var level: ConformanceLevel?
        var wrong_options: [String: String]?
        var writes: [String: Write]?
        var skips: [String: String]?
    }

    private static let keys: Set = ["config", "bridge", "level", "wrong_options", "writes", "skips"]

    /// Settings for a configuration.
    public init(
        config: String, bridge: String? = nil, level: ConformanceLevel = .strict, skips: [String: String] = [:],
        wrongOptions: [String: String] = [:], writes: [String: Write] = [:]
    ) {
        self.config = config
        self.bridge = bridge
        self.level = level
        self.skips = skips
        self.wrongOptions = wrongOptions
        self.writes = writes
    }

    /// Reads a `conformance.yml`.
    ///
    /// - Throws: ``Fault``.
    public init(path: String) throws {
        let url = URL(fileURLWithPath: path)
        let file: File
        do {
            guard let text = try? String(contentsOf: url, encoding: .utf8) else {
                throw Fault(
                    description: "it cannot be read; run this in the bridge's package, or name the file with --settings"
                )
            }
            for key in (try Yams.load(yaml: text) as? [String: Any] ?? [:]).keys where !Self.keys.contains(key) {
                throw Fault(description: "unknown key \"\(key)\"; valid: \(Self.keys.sorted().joined(separator: ", "))")
            }
            file = try YAMLDecoder().decode(File.self, from: text)
        } catch {
            throw Fault(description: "\(path): \(error)")
        }
        let catalog = Set(ConformanceRun.catalog.map(\.id))
        for (id, reason) in file.skips ?? [:] {
            guard catalog.contains(id) else {
                throw Fault(description: "\(path): there is no check \"\(id)\"; `bmo plugins test --list` lists them")
            }
            guard !reason.allSatisfy(\.isWhitespace) else {
                throw Fault(description: "\(path): the skip of \(id) has no reason")
            }
        }
        let folder = url.deletingLastPathComponent()
        self.init(
            config: folder.appendingPathComponent(file.config ?? "bmo.yml").path, bridge: file.bridge,
            level: file.level ?? .strict, skips: file.skips ?? [:], wrongOptions: file.wrong_options ?? [:],
            writes: file.writes ?? [:])
    }
}
