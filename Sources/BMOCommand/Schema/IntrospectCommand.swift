internal import AirbyteManifest
internal import ArgumentParser
internal import BMO
internal import BridgeHost
internal import Foundation
internal import Model

/// `bmo introspect`.
struct IntrospectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "introspect",
        abstract: "Examine an API and write a commented configuration for it, ready to use.",
        discussion: """
            bmo introspect rest --openapi FILE|URL    an OpenAPI 3 or Swagger 2 document, JSON or YAML
            bmo introspect rest --sample URL          one reply of a listing; give it once per listing
            bmo introspect rest --sample URL --body '{...}'    a listing that is requested by POST
            bmo introspect rest URL                   looks for a document in the usual places
            bmo introspect soap WSDL                  a URL or a file
            bmo introspect smb URL                    the folders and tables of a share
            bmo introspect singer TAP --option 'tap_config={...}'    the streams of a Singer tap
            bmo introspect airbyte FILE|FOLDER|WHEEL  a declarative connector: its manifest.yaml
            bmo introspect dlt FILE                   a configuration of dlt's rest_api source, saved as JSON
            bmo introspect postman FILE               a Postman collection with saved examples

            Entities, keys, types, relationships and paging are guesses; a comment behind each gives its confidence \
            and the reason. Writes are commented out until you enable them.
            """)

    @Argument(
        help: ArgumentHelp(
            "The bridge to use: rest, soap, smb or another one that can discover; or airbyte, dlt, postman.",
            valueName: "plugin"
        ))
    var plugin: String

    @Argument(help: ArgumentHelp("What to examine: the API's URL, a WSDL, a share.", valueName: "source"))
    var source: String?

    @Option(help: ArgumentHelp("rest: an OpenAPI document.", valueName: "file|url"))
    var openapi: String?

    @Option(help: ArgumentHelp("rest: the URL of a listing; may be repeated.", valueName: "url"))
    var sample: [String] = []

    @Option(
        help: ArgumentHelp(
            "With --sample: request it by POST, with this JSON or that of a file (@PATH).", valueName: "json"))
    var body: String?

    @Option(
        help: ArgumentHelp(
            "A header field, NAME:VALUE; the value env:VARIABLE is read from the environment and stays a reference in the file.",
            valueName: "field"))
    var header: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Credentials, by the names of environment variables: bearer:TOKEN, basic:USER:PASSWORD, header:FIELD:KEY, \
            query:PARAMETER:KEY; for smb USER:PASSWORD.
            """, valueName: "kind"))
    var auth: String?

    @Option(
        help: ArgumentHelp(
            "An option of the bridge, NAME=VALUE, where {...} and [...] are JSON; env:VARIABLE as with --header.",
            valueName: "option"))
    var option: [String] = []

    @Option(
        help: ArgumentHelp(
            "airbyte: an input of the connector, NAME=VALUE, with dots for nested ones; secrets come from the environment.",
            valueName: "input"))
    var set: [String] = []

    @Flag(
        help:
            "airbyte, dlt, postman: report on stderr which streams or resources are carried, carried with doubts or not carried, and why."
    )
    var report = false

    @Option(help: ArgumentHelp("The bridge's name in the configuration.", valueName: "name"))
    var name: String?

    @Option(name: [.short, .long], help: ArgumentHelp("Where to write it; default: stdout.", valueName: "path"))
    var output: String?

    @Flag(help: "Replace an existing file.")
    var force = false

    @Flag(name: [.short, .long], help: "Write what the host and the bridges log to stderr.")
    var verbose = false

    @OptionGroup var log: LogOptions

    func validate() { if verbose { CommandLog.beVerbose() } }

    func run() async throws {
        if let output, !force, FileManager.default.fileExists(atPath: output) {
            throw CommandFailure(existing: output)
        }
        if plugin == "airbyte" {
            try translateConnector()
            return
        }
        if plugin == "dlt" || plugin == "postman" {
            guard set.isEmpty else { throw Self.usage("--set is for airbyte") }
            try translateFile()
            return
        }
        guard set.isEmpty, !report else {
            throw Self.usage("--set and --report are for airbyte; --report is for dlt and postman, too")
        }
        let introspection: Introspection
        do {
            let (source, options) = (try wanted(), try options())
            Workspace.takeSecrets(options.secretVariables)
            introspection = try await Introspection.run(
                host: BridgeHost(logger: CommandLog.logger), plugin: plugin, source: source, options: options,
                bridge: name, database: database, command: command)
        } catch let error as IntrospectionError {
            throw CommandFailure(error.description)
        } catch let error as BridgeFailure {
            throw CommandFailure(
                "\(error)", exitCode: error.code == .configuration ? CommandFailure.usage : CommandFailure.failed)
        } catch let error as SecretError {
            throw CommandFailure(error.description, exitCode: CommandFailure.usage)
        }
        try finish(introspection.text, ready: introspection.readyCount, rest: introspection.incompleteCount)
    }

    /// Writes the configuration, and says what to do next.
    private func finish(_ text: String, ready: Int, rest: Int) throws {
        let counts =
            Terminal.count(ready, "entity", "entities") + " ready" + (rest > 0 ? ", \(rest) to be completed" : "")
        guard let output else {
            print(text, terminator: "")
            guard ready > 0 else { throw Self.nothingReady(rest, in: "the configuration") }
            Terminal.write("\(counts)\n")
            return
        }
        do {
            try Data(text.utf8).write(
                to: URL(fileURLWithPath: output), options: force ? [.atomic] : [.withoutOverwriting])
        } catch CocoaError.fileWriteFileExists {
            throw CommandFailure(existing: output)
        } catch {
            throw CommandFailure(unwritable: output, error)
        }
        guard ready > 0 else { throw Self.nothingReady(rest, in: output) }
        print("wrote \(output): \(counts); then: bmo check -f \(output) && bmo sync -f \(output)")
    }

    private func translateConnector() throws {
        guard let source else {
            throw Self.usage("say what to read: bmo introspect airbyte FILE|FOLDER|WHEEL")
        }
        let inputs = try set.map { text -> (name: String, value: String) in
            guard let input = text.parts(at: "=") else { throw Self.usage("--set \(text): write NAME=VALUE") }
            return input
        }
        let (files, found) = try ConnectorFiles.read(source)
        let translation: Connector.Translation
        do {
            translation = try Connector.translate(
                files: files, name: name ?? found, set: inputs, database: database ?? "bmo.sqlite",
                command: (["bmo introspect airbyte", source] + inputs.map { "--set \($0.name)=..." }).joined(
                    separator: " "))
        } catch let fault as ManifestFault {
            throw CommandFailure("\(source): \(fault)")
        }
        try finish(translation)
    }

    private func translateFile() throws {
        guard let source else { throw Self.usage("say what to read: bmo introspect \(plugin) FILE") }
        let file = URL(fileURLWithPath: source).lastPathComponent
        let translation: Connector.Translation
        do {
            let translate = plugin == "dlt" ? DLTConfiguration.translate : PostmanCollection.translate
            translation = try translate(
                try ConnectorFiles.text(source), source, name ?? String(file.prefix { $0 != "." }),
                database ?? "bmo.sqlite", "bmo introspect \(plugin) \(source)")
        } catch let fault as ManifestFault {
            throw CommandFailure("\(fault)")
        }
        try finish(translation)
    }

    private func finish(_ translation: Connector.Translation) throws {
        if report { Terminal.write(translation.report.text + "\n") }
        let left = translation.report.count(.notCarried)
        try finish(translation.text, ready: translation.report.streams.count - left, rest: left)
    }

    /// Returns the failure for a result that no sync could use, so that a script does not take it for a configuration.
    private static func nothingReady(_ count: Int, in file: String) -> CommandFailure {
        CommandFailure(
            "no entity can be synced as it stands: \(Terminal.count(count, "entity is", "entities are")) commented out in "
                + "\(file), with what is missing; complete one, or examine another listing")
    }

    /// The database's name, derived from the output file so that two configurations in one folder do not share one.
    private var database: String? {
        guard let output else { return nil }
        let name = URL(fileURLWithPath: output).deletingPathExtension().lastPathComponent
        return name.isEmpty ? nil : name + ".sqlite"
    }

    /// The command, ready to be typed again.
    ///
    /// It contains no secrets, only names of variables. Headers may be literal.
    private var command: String {
        var words = ["bmo introspect", plugin]
        if let source { words.append(Self.withoutQuery(source)) }
        if let openapi { words += ["--openapi", Self.withoutQuery(openapi)] }
        for url in sample { words += ["--sample", Self.withoutQuery(url)] }
        return words.joined(separator: " ")
    }

    /// Removes the query, which may contain a key.
    private static func withoutQuery(_ url: String) -> String { String(url.prefix { $0 != "?" }) }

    private func wanted() throws -> Introspection.Source {
        let given = (openapi == nil ? 0 : 1) + (sample.isEmpty ? 0 : 1)
        guard given < 2 else { throw Self.usage("--openapi and --sample cannot be combined") }
        if given > 0, plugin != "rest" { throw Self.usage("--openapi and --sample are for the bridge rest") }
        if let openapi { return .openAPI(openapi) }
        if !sample.isEmpty { return .samples(sample, body: try sentBody()) }
        if body != nil { throw Self.usage("--body is for --sample") }
        guard source != nil || !option.isEmpty else {
            throw Self.usage(
                plugin == "rest"
                    ? "say what to examine: --openapi FILE|URL, --sample URL or the API's URL"
                    : "say what to examine: bmo introspect \(plugin) \(["soap": "WSDL", "singer": "TAP"][plugin] ?? "URL")"
            )
        }
        return .options
    }

    /// Reads the body of a sample's request.
    private func sentBody() throws -> String? {
        guard let body else { return nil }
        let text: String
        if body.hasPrefix("@") {
            guard let read = try? String(contentsOfFile: String(body.dropFirst()), encoding: .utf8) else {
                throw Self.usage("--body: \(body.dropFirst()) cannot be read")
            }
            text = read
        } else {
            text = body
        }
        guard (try? ConfigValue(json: text)) != nil else { throw Self.usage("--body: it is not JSON") }
        return text
    }

    private func options() throws -> ConfigValue {
        var members: [(key: String, value: ConfigValue)] = []
        if let source {
            let isFile = plugin == "soap" && !source.contains("://")
            let names = ["soap": "wsdl", "singer": "command"]
            members.append(
                (names[plugin] ?? "url", .string(isFile ? URL(fileURLWithPath: source).path : source)))
        }
        for text in option {
            guard let (name, value) = text.parts(at: "=") else {
                throw Self.usage("--option \(text): write NAME=VALUE")
            }
            members.append((name, try Self.value(value, of: "--option \(name)")))
        }
        let fields = try header.map { text -> (key: String, value: ConfigValue) in
            guard let (name, value) = text.parts(at: ":") else { throw Self.usage("--header: write NAME:VALUE") }
            return (name, try Self.value(String(value.drop { $0 == " " }), of: "--header \(name)"))
        }
        if !fields.isEmpty { members.append(("headers", .object(fields))) }
        if let auth { members += try Self.credentials(auth, plugin: plugin) }
        return .object(members)
    }

    private static func value(_ text: String, of name: String) throws -> ConfigValue {
        if text.hasPrefix("{") || text.hasPrefix("[") {
            guard let value = try? ConfigValue(json: text) else {
                throw usage("\(name): a value that begins with { or [ must be JSON")
            }
            return value.withReferences
        }
        return text.hasPrefix("env:") ? .secret(.env(String(text.dropFirst(4)))) : .string(text)
    }

    private static func credentials(_ text: String, plugin: String) throws -> [(key: String, value: ConfigValue)] {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        // Do not repeat the text: it may be the secret itself in place of a variable's name.
        func env(_ index: Int) throws -> ConfigValue {
            let name = parts[index]
            guard ProcessInfo.processInfo.environment[name] != nil else {
                throw usage(
                    "--auth: part \(index + 1) is not the name of an environment variable that is set; put "
                        + "the value into one: API_TOKEN=... bmo introspect ... --auth bearer:API_TOKEN")
            }
            return .secret(.env(name))
        }
        func auth(_ type: String, _ members: [(key: String, value: ConfigValue)]) -> [(key: String, value: ConfigValue)]
        {
            [("auth", .object([("type", .string(type))] + members))]
        }
        switch (parts.first ?? "", parts.count) {
        case (_, 2) where plugin == "smb": return [("user", try env(0)), ("password", try env(1))]
        case ("bearer", 2): return auth("bearer", [("token", try env(1))])
        case ("basic", 3): return auth("basic", [("user", try env(1)), ("password", try env(2))])
        case ("header", 3): return auth("api_key", [("value", try env(2)), ("header", .string(parts[1]))])
        case ("query", 3): return auth("api_key", [("value", try env(2)), ("query", .string(parts[1]))])
        default:
            throw usage(
                "--auth takes bearer:TOKEN, basic:USER:PASSWORD, header:FIELD:KEY or query:PARAMETER:KEY, with names of "
                    + "environment variables in capitals")
        }
    }

    private static func usage(_ message: String) -> CommandFailure {
        CommandFailure(message, exitCode: CommandFailure.usage)
    }
}

extension ConfigValue {
    /// Replaces `{"env": NAME}` with the reference to a secret that it is in a configuration.
    fileprivate var withReferences: ConfigValue {
        switch self {
        case .array(let elements): return .array(elements.map(\.withReferences))
        case .object(let members):
            if members.count == 1, members[0].key == "env", case .string(let name) = members[0].value {
                return .secret(.env(name))
            }
            return .object(members.map { ($0.key, $0.value.withReferences) })
        default: return self
        }
    }
}
