public import BridgeHost
internal import Foundation
public import Model
internal import RecordBatch

/// Inspects an API through a bridge, and writes a configuration for it.
///
/// ```swift
/// let introspection = try await Introspection.run(
///     host: host, plugin: "rest", source: .samples(["https://api.example.com/users"]))
/// print(introspection.text)
/// ```
public struct Introspection: Sendable {
    /// The source to inspect.
    public enum Source: Sendable {
        /// Whatever the bridge's options lead to.
        case options
        /// An OpenAPI document: a path or a URL.
        case openAPI(String)
        /// URLs of listings: one reply of each is read. With a body (JSON), they are requested by POST.
        case samples([String], body: String? = nil)
    }

    /// The configuration, as commented YAML.
    public let text: String
    /// How many entities can be synced without changes.
    public let readyCount: Int
    /// How many are commented out, each with a note on what is missing.
    public let incompleteCount: Int

    /// Inspects an API by reading at most a document or a page of it.
    ///
    /// - Parameters:
    ///   - host: The host that finds plugins.
    ///   - name: The plugin's name.
    ///   - source: The source to inspect.
    ///   - options: The bridge's options as the configuration should state them; secrets by reference.
    ///   - bridge: The bridge's name in the configuration; nil derives one from the findings.
    ///   - database: The database's file; nil names it after the bridge.
    ///   - directory: The base of relative paths.
    ///   - command: The command for the first line.
    /// - Returns: A checked configuration.
    /// - Throws: `BridgeFailure`, `SecretError`, ``IntrospectionError``.
    public static func run(
        host: BridgeHost, plugin name: String, source: Source = .options, options: ConfigValue = .object([]),
        bridge: String? = nil, database: String? = nil, directory: String = ".",
        command: String = "bmo introspect"
    ) async throws -> Introspection {
        let plugin = try await host.plugin(named: name)
        let own = IntrospectionOptions.typed(options.members ?? [], by: plugin.optionsSchema)
        var guessed = own
        var offer: IntrospectionOffer
        switch source {
        case .options:
            try IntrospectionOptions.check(own, of: plugin)
            offer = try await discover(host, plugin, own, directory)
        case .samples(let urls, let body):
            guessed = own.filter { $0.key != "url" }
            var members: [(key: String, value: ConfigValue)] = [("samples", .array(urls.map { .string($0) }))]
            if let body { members.append(("body", .string(body))) }
            offer = try await discover(host, plugin, guessed + look(at: urls.first ?? "", members), directory)
        case .openAPI(let place):
            guessed = own.filter { $0.key != "url" }
            let sent = IntrospectionCredentials.options(own, sentTo: place)
            let (text, location) = try await document(place, host, plugin, sent, directory)
            var bundle = OpenAPIBundle(at: location ?? URL(fileURLWithPath: place).absoluteString)
            // A redirect may have led to another host, whose parts are read without credentials.
            let partsSent = IntrospectionCredentials.options(
                [("url", .string(place))] + sent, sentTo: location ?? place)
            let whole = try await bundle.text(of: try json(text, place)) { part in
                try json(try await document(part, host, plugin, partsSent, directory).text, part)
            }
            var members: [(key: String, value: ConfigValue)] = [("openapi", .string(whole))]
            if let location { members.append(("location", .string(location))) }
            offer = try await discover(
                host, plugin, guessed + look(at: location ?? "http://localhost", members), directory)
            offer.notes += bundle.notes
            if let url = own.first(where: { $0.key == "url" }) { offer.setURL(url) }
        }
        guard !offer.entities.isEmpty || offer.isKnownEmpty else {
            throw IntrospectionError(message: "\(name) found no entities", remedy: "check the source that you gave")
        }
        let written = IntrospectionCredentials(guessed)
        offer.notes += written.notes
        let bridge = bridge ?? bridgeName(offer, own)
        let renderer = IntrospectionRenderer(
            plugin: plugin, bridge: bridge, database: database ?? bridge + ".sqlite", offer: offer,
            options: written.options,
            origin: command)
        let (text, ready, incomplete) = renderer.render()
        try check(text, plugin, ready: ready)
        return Introspection(text: text, readyCount: ready, incompleteCount: incomplete)
    }

    /// Validates the generated file: a fault in it is a defect of the bridge's offer or of this renderer.
    private static func check(_ text: String, _ plugin: PluginListing, ready: Int) throws {
        guard ready > 0 else { return }
        guard text.utf8.count <= ConfigurationFile.largest else {
            throw IntrospectionError(
                message:
                    "the configuration of \(ready) entities would be larger than 1 MiB, which is the most that a file may have",
                remedy: "inspect a part of the API: a document with fewer paths, or --sample with the URLs of listings",
                text: text)
        }
        let schema = PluginSchema(
            name: plugin.name, optionsSchema: plugin.optionsSchema, entitySchema: plugin.entitySchema)
        do {
            _ = try ConfigurationFile.load(text: text, path: "bmo.yml", plugins: [schema])
        } catch {
            throw IntrospectionError(
                message: "the resulting configuration has errors: "
                    + error.diagnostics.prefix(3).map(\.description).joined(separator: "; "),
                remedy: "this is a defect of bmo or of the bridge \(plugin.name): please report it", text: text)
        }
    }

    private static func discover(
        _ host: BridgeHost, _ plugin: PluginListing, _ options: [(key: String, value: ConfigValue)], _ directory: String
    ) async throws -> IntrospectionOffer {
        IntrospectionOffer(try await records(host, plugin, options, directory))
    }

    private static func records(
        _ host: BridgeHost, _ plugin: PluginListing, _ options: [(key: String, value: ConfigValue)], _ directory: String
    ) async throws -> RecordBatch {
        var encoder = ConfigEncoder(directory: directory)
        let batch = try encoder.batch(.object(options))
        let connection = try await host.connect(
            to: plugin, options: batch, name: plugin.name, secrets: encoder.secrets)
        // Not `closing`: the optimiser of Swift 6.3.1 crashes on it here.
        do {
            let offer = try await connection.discover()
            await connection.close()
            return offer
        } catch {
            await connection.close()
            throw error
        }
    }

    /// Returns the options that make a bridge inspect `url` instead of the API; its origin receives the credentials.
    private static func look(
        at url: String, _ members: [(key: String, value: ConfigValue)]
    ) -> [(key: String, value: ConfigValue)] {
        [("url", .string(IntrospectionCredentials.origin(of: url))), ("introspect", .object(members))]
    }

    private static func document(
        _ place: String, _ host: BridgeHost, _ plugin: PluginListing, _ options: [(key: String, value: ConfigValue)],
        _ directory: String
    ) async throws -> (text: String, location: String?) {
        guard place.hasPrefix("http://") || place.hasPrefix("https://") else {
            let url = URL(fileURLWithPath: place)
            guard let data = try? Data(contentsOf: url) else {
                throw IntrospectionError(message: "the document \(place) cannot be read", remedy: "check its path")
            }
            return (String(decoding: data, as: UTF8.self), nil)
        }
        let batch = try await records(
            host, plugin, options + look(at: place, [("document", .string(place))]), directory)
        guard batch.count == 1, let text = batch[0]["document"]?.text else {
            throw IntrospectionError(
                message: "the bridge \(plugin.name) cannot fetch documents",
                remedy: "download \(place), and give the file")
        }
        return (text, batch[0]["location"]?.text ?? place)
    }

    /// Returns a document as JSON text, because bridges cannot read YAML.
    private static func json(_ text: String, _ place: String) throws -> String {
        let start = text.unicodeScalars.first { !$0.properties.isWhitespace && $0 != "\u{FEFF}" }
        if start == "{" || start == "[" { return text }
        if start == "<" {
            throw IntrospectionError(
                message: "\(place) is a web page or XML, not an OpenAPI document",
                remedy: "give the address of the document itself, in JSON or YAML")
        }
        do {
            return try YAMLDocument.json(text)
        } catch {
            throw IntrospectionError(
                message: "\(place) is neither JSON nor YAML: \(error)", remedy: "check its content")
        }
    }

    /// Returns `petstore` for "Swagger Petstore", else a name from the host's.
    private static func bridgeName(_ offer: IntrospectionOffer, _ options: [(key: String, value: ConfigValue)])
        -> String
    {
        let dull = [
            "api", "the", "rest", "swagger", "openapi", "service", "http", "https", "com", "www", "org", "net", "io",
        ]
        let url = (offer.options + options).first { ["url", "wsdl"].contains($0.key) }?.value.string ?? ""
        for text in [offer.title ?? "", url] {
            let isURL = text.contains("://")
            let words = text.lowercased().split { !$0.isASCII || !($0.isLetter || $0.isNumber) }.map(String.init)
                .filter { !dull.contains($0) && $0.first?.isLetter == true && $0.count > 1 }
            if let name = isURL ? words.first : words.prefix(2).joined(separator: "-"), (2...30).contains(name.count) {
                return name
            }
        }
        return "api"
    }
}

/// Why no configuration could be written.
public struct IntrospectionError: Error, Sendable, CustomStringConvertible {
    /// What failed, and on which object.
    public let message: String
    /// The remedy.
    public let remedy: String
    /// The configuration as far as it was generated.
    public let text: String?

    init(message: String, remedy: String, text: String? = nil) {
        self.message = message
        self.remedy = remedy
        self.text = text
    }

    /// The message and the remedy on one line.
    public var description: String { "\(message); \(remedy)" }
}
