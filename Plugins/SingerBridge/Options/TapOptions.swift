internal import BridgeKit
internal import RecordBatch

/// How to run a tap: the options of a bridge with `isolation: external`.
struct TapOptions {
    /// The source of the catalog.
    enum Catalog: Equatable {
        /// The tap prints it.
        case discover
        /// A file contains it.
        case file(String)
        /// The tap does not take a catalog.
        case none
    }

    static let schema = """
        {
          "type": "object",
          "additionalProperties": false,
          "required": ["command"],
          "$defs": {
            "value": {
              "items": {"$ref": "#/$defs/value"},
              "additionalProperties": {"$ref": "#/$defs/value"}
            }
          },
          "properties": {
            "command": {
              "description": "The tap and its arguments, such as [tap-github] or [/opt/taps/bin/tap-csv]; no secrets: others can list them.",
              "anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "minItems": 1, "items": {"type": "string"}}]
            },
            "tap_config": {
              "description": "The tap's own configuration, as its documentation describes it; secrets by {env: NAME} or {file: PATH}.",
              "type": "object",
              "additionalProperties": {"$ref": "#/$defs/value"}
            },
            "catalog": {
              "description": "Where the tap's streams are listed: discover asks the tap, none is for a tap that takes no catalog; else a file.",
              "type": "string",
              "default": "discover"
            },
            "catalog_flag": {
              "description": "How the tap takes its catalog; old taps want --properties.",
              "enum": ["--catalog", "--properties"],
              "default": "--catalog"
            },
            "files": {
              "description": "Where the tap finds its configuration, catalog and state: in memory, or in a private folder, for a tap that starts another program without its open files.",
              "enum": ["memory", "folder"],
              "default": "memory"
            },
            "environment": {
              "description": "Environment variables of the tap, beside PATH, LANG, TZ, and a HOME of its own.",
              "type": "object",
              "additionalProperties": {"type": "string"}
            },
            "folder": {
              "description": "Where the tap runs and relative paths begin; default: the configuration's folder.",
              "type": "string"
            },
            "silence": {
              "description": "How many seconds the tap may write neither records nor log lines.",
              "type": "integer",
              "minimum": 1,
              "maximum": 86400,
              "default": 300
            },
            "longest_line": {
              "description": "The longest line of the tap, in MiB.",
              "type": "integer",
              "minimum": 1,
              "maximum": 128,
              "default": 16
            }
          }
        }
        """

    let command: [String]
    /// The tap's own configuration, as JSON.
    let config: String
    /// The texts in the tap's own configuration and in its environment.
    let texts: ConfiguredTexts
    let catalog: Catalog
    let catalogFlag: String
    let files: TapFiles.Storage
    let environment: [(name: String, value: String)]
    let folder: String?
    let silence: Int
    let maxLineLength: Int

    /// - Throws: ``BridgeError``, `configuration`.
    init(_ options: BridgeOptions) throws {
        command = options.strings("command")
        guard let program = command.first, !program.isEmpty, !command.contains(where: { $0.utf8.contains(0) }) else {
            throw BridgeError(.configuration, "the command of the tap is empty", remedy: "write command: [tap-name]")
        }
        config = options.withValue("tap_config") { $0?.json ?? "{}" }
        folder = options.string("folder")
        switch options.string("catalog") ?? "discover" {
        case "discover": catalog = .discover
        case "none": catalog = .none
        case let path: catalog = .file(path)
        }
        files = options.string("files").flatMap { TapFiles.Storage(rawValue: $0) } ?? .memory
        catalogFlag = options.string("catalog_flag") ?? "--catalog"
        silence = options.integer("silence") ?? 300
        maxLineLength = (options.integer("longest_line") ?? 16) << 20
        let variables = options.object("environment") ?? .empty
        environment = variables.names.map { ($0, variables.string($0) ?? "") }
        let configured = options.withValue("tap_config") { value in value.map { ConfiguredTexts.all(in: $0) } ?? [] }
        texts = ConfiguredTexts(configured + environment.map(\.value))
        for (name, value) in environment where name.isEmpty || (name + value).utf8.contains(0) || name.contains("=") {
            throw BridgeError(
                .configuration, "`\(name)` of the tap's environment is not a variable", remedy: "write NAME: value")
        }
    }

    /// Returns `path` relative to the tap's folder.
    func resolved(_ path: String) -> String {
        guard let folder, !path.hasPrefix("/") else { return path }
        return "\(folder)/\(path)"
    }
}

/// The section of an entity in the configuration.
struct TapSection {
    static let schema = """
        {
          "type": "object",
          "additionalProperties": false,
          "required": ["stream"],
          "properties": {
            "stream": {
              "description": "The stream's name, as in the tap's catalog, or its tap_stream_id.",
              "type": "string",
              "minLength": 1
            },
            "replication": {
              "description": "What a run of the tap returns: full_table is everything, so that missing records count as deleted; default: what the catalog says.",
              "enum": ["full_table", "incremental", "log_based"]
            },
            "replication_key": {
              "description": "The property by which an incremental stream recognises what is new.",
              "type": "string",
              "minLength": 1
            }
          }
        }
        """

    let stream: String
    let replication: Replication?
    let replicationKey: String?

    init(_ section: BridgeOptions) {
        stream = section.string("stream") ?? ""
        replication = section.string("replication").flatMap { Replication(word: $0) }
        replicationKey = section.string("replication_key")
    }
}

/// The records that a run of a tap returns for a stream.
enum Replication: String {
    /// All records each time.
    case fullTable = "FULL_TABLE"
    /// The records changed since a bookmark.
    case incremental = "INCREMENTAL"
    /// The changes in a database's log, including deletions.
    case logBased = "LOG_BASED"

    /// Accepts the spelling of a catalog or of a configuration.
    init?(word: String) { self.init(rawValue: word.uppercased()) }
}
