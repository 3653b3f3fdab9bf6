internal import Foundation
internal import Yams

/// The requirements on a bridge.
public enum ConformanceLevel: String, Sendable, CaseIterable, Comparable, Codable {
    /// The bridge is usable.
    case basic
    /// The bridge does everything that users rely on.
    case full
    /// The bridge does what the best bridges do.
    case strict

    /// Orders levels by their requirements.
    public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// The bridge to test and its test data: the file `conformance.yml` next to a bridge.
///
/// ```yaml
/// config: bmo.yml            # with a bridge and entities, as for a sync
/// bridge: acme               # default: the only one in the configuration
/// level: strict              # basic, full or strict (default)
/// wrong_options:             # replace the valid options; the check must then fail
///   password: wrong
/// writes:                    # an object that may be created, changed and deleted on the remote
///   Thing: {key: id, create: {id: 900, name: new}, update: {name: newer}}
/// skips:                     # a check's identifier, and the reason to skip it
///   incremental.second: the API has no cursor
/// ```
public struct ConformanceSettings: Sendable {
    /// The configuration's path.
    public var config: String
    /// The bridge's name in the configuration; nil if that has only one.
    public var bridge: String?
    /// The level of the run.
    public var level: ConformanceLevel
    /// The reasons for skipped checks, by identifier.
    public var skips: [String: String]
    /// Options that the remote rejects, by name; a dot leads to a member, as in `auth.token`.
    public var wrongOptions: [String: String]
    /// The objects that may be written, by entity.
    public var writes: [String: Write]
    /// The time limit of a check; nil limits only its calls, to 300 s each.
    public var timeout: Duration?

    /// An object for the write checks.
    public struct Write: Sendable, Decodable {
        /// The remote name of the key.
        public var key: String
        /// The initial values by remote names, without the key if the remote assigns it on creation.
        public var create: [String: Scalar]
        /// The changed values.
        public var update: [String: Scalar]

        /// Creates an object for the write checks.
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

        /// Decodes a YAML scalar.
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

        /// The value in JSON.
        public var description: String {
            switch self {
            case .integer(let value): "\(value)"
            case .bool(let value): "\(value)"
            case .text(let value): "\"\(value)\""
            }
        }
    }

    /// An error in the settings.
    public struct Fault: Error, CustomStringConvertible {
        /// The error with its location and remedy.
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

    /// Creates settings for a configuration.
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
