internal import StoreContract
package import BridgeHost
internal import Foundation
package import Model

/// The recording or replay of the exchanges in one step of a fixture.
///
/// It is a JSON file that `bmo fixtures` writes and passes to the command of the step.
package struct ExchangeSession: Sendable {
    package enum Mode: String, Sendable {
        case record, replay
    }

    package var mode: Mode
    /// The folder of the exchanges.
    package var folder: String
    /// The file that receives a line for each exchange that was used, faulted or retried.
    package var report: String
    /// The database of the case, in place of the configuration's.
    package var database: String
    /// When the recording was made, in seconds since 1970.
    package var recorded: Int64?
    /// Server addresses that the configuration has as secrets, by the secrets' descriptions.
    package var values: [(key: String, value: String)] = []
    /// The faults to inject in the replay, in the kit's format.
    package var faults: [ConfigValue] = []

    package init(mode: Mode, folder: String, report: String, database: String) {
        self.mode = mode
        self.folder = folder
        self.report = report
        self.database = database
    }

    /// Reads a session's file.
    ///
    /// - Throws: ``BridgeFailure`` when the file is not what `bmo fixtures` writes.
    package init(path: String) throws {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8), let value = try? ConfigValue(json: text),
            let mode = value["mode"]?.string.flatMap(Mode.init), let folder = value["folder"]?.string,
            let report = value["report"]?.string, let database = value["database"]?.string
        else {
            throw BridgeFailure(.configuration, "\(path) is not a file of `bmo fixtures`", bridge: "fixtures")
        }
        self.init(mode: mode, folder: folder, report: report, database: database)
        if case .int(let seconds)? = value["recorded"] { recorded = seconds }
        values = (value["values"]?.members ?? []).compactMap { member in
            member.value.string.map { (member.key, $0) }
        }
        faults = value["faults"]?.array ?? []
    }

    package var json: String {
        ConfigValue.object([
            ("mode", .string(mode.rawValue)), ("folder", .string(folder)), ("report", .string(report)),
            ("database", .string(database)), ("recorded", recorded.map { .int($0) } ?? .null),
            ("values", .object(values.map { ($0.key, .string($0.value)) })), ("faults", .array(faults)),
        ]).json
    }

    /// Returns a replay's stand-in for a secret, so that the secret need not exist; nil while recording.
    func standIn(for reference: SecretReference) -> String? {
        guard mode == .replay else { return nil }
        if let value = values.first(where: { $0.key == reference.description }) { return value.value }
        let name =
            switch reference {
            case .env(let name): name
            case .file(let path): path.split(separator: "/").last.map(String.init) ?? "file"
            }
        // The kit recognizes it by its prefix.
        return "replayed-secret-\(name)"
    }

    /// Returns a bridge's options with those of its tape.
    func options(_ bridge: BridgeConfiguration, secrets: [String]) -> ConfigValue {
        let tape = ConfigValue.object([
            ("mode", .string(mode.rawValue)), ("folder", .string(folder)), ("report", .string(report)),
            ("bridge", .string(bridge.name)), ("secrets", .array(secrets.map { .string($0) })),
            ("recorded", recorded.map { .int($0) } ?? .null), ("faults", .array(faults)),
        ])
        return .object((bridge.options.members ?? []) + [("@exchange", tape)])
    }

    static func refusal(of bridge: BridgeConfiguration) -> BridgeFailure {
        BridgeFailure(
            .unsupported, "the plugin `\(bridge.plugin)` cannot record or replay its requests",
            bridge: bridge.name,
            remedy:
                "leave its entities out, or have its author pass its requests through the kit's tape: docs/fixtures.md")
    }
}

extension Workspace {
    /// Reads a configuration whose bridges record or replay.
    ///
    /// - Throws: ``ConfigurationErrors``.
    package static func load(
        _ file: ConfigurationFile, host: BridgeHost, stores: any StoreProvider, session: ExchangeSession
    ) async throws -> Workspace {
        let plain = try await load(file, host: host, stores: stores, toleratesRefusals: false)
        var configuration = plain.configuration
        configuration.databasePath = session.database
        return Workspace(
            configuration: configuration, file: file, plugins: plain.plugins, model: plain.model, host: host,
            stores: plain.stores, session: session)
    }
}
