public import BridgeHost
internal import Foundation
public import Model
internal import RecordBatch

/// Looks at an API through a bridge, and writes a configuration for it.
///
/// ```swift
/// let introspection = try await Introspection.run(
///     host: host, plugin: "rest", source: .samples(["https://api.example.com/users"]))
/// print(introspection.text)
/// ```
public struct Introspection: Sendable {
    /// What is looked at.
    public enum Source: Sendable {
        /// What the bridge's options alone lead to.
        case options
        /// An OpenAPI document: a path or a URL.
        case openAPI(String)
        /// URLs of listings, of which one reply each is looked at.
        case samples([String])
    }

    /// The configuration: commented YAML.
    public let text: String
    /// How many entities can be synced as they stand.
    public let readyCount: Int
    /// How many are commented out, each with what is missing.
    public let incompleteCount: Int

    /// Looks at an API, without reading more than a document or a page of it.
    ///
    /// - Parameters:
    ///   - host: Where plugins come from.
    ///   - plugin: The plugin's name.
    ///   - source: What to look at.
    ///   - options: The bridge's options as they should stand in the configuration; secrets by reference.
    ///   - bridge: The bridge's name in the configuration; nil takes one from what is found.
    ///   - database: The database's file; nil names it after the bridge.
    ///   - directory: Where relative paths begin.
    ///   - command: The command for the first line.
    /// - Returns: A configuration that was checked.
    /// - Throws: ``BridgeFailure``, `SecretError`, ``IntrospectionError``.
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
        case .samples(let urls):
            guessed = own.filter { $0.key != "url" }
            offer = try await discover(
                host, plugin, guessed + look(at: urls.first ?? "", [("samples", .array(urls.map { .string($0) }))]),
                directory)
        case .openAPI(let place):
            guessed = own.filter { $0.key != "url" }
            let (text, location) = try await document(place, host, plugin, guessed, directory)
            var members: [(key: String, value: ConfigValue)] = [("openapi", .string(try json(text, place)))]
            if let location { members.append(("location", .string(location))) }
            offer = try await discover(
                host, plugin, guessed + look(at: location ?? "http://localhost", members), directory)
            // Where the API really is, somebody may know better than its document.
            if let url = own.first(where: { $0.key == "url" }) {
                offer.options.removeAll { $0.key == "url" }
                offer.options.insert(url, at: 0)
            }
        }
        guard !offer.entities.isEmpty || offer.isKnownEmpty else {
            throw IntrospectionError(message: "\(name) found no entities", remedy: "check what it was asked to look at")
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

    /// The file that is handed out must be right: what is wrong with it is a defect of the bridge's offer or of ours.
    private static func check(_ text: String, _ plugin: PluginListing, ready: Int) throws {
        guard ready > 0 else { return }
        let schema = PluginSchema(
            name: plugin.name, optionsSchema: plugin.optionsSchema, entitySchema: plugin.entitySchema)
        do {
            _ = try ConfigurationFile.load(text: text, path: "bmo.yml", plugins: [schema])
        } catch {
            throw IntrospectionError(
                message: "the configuration that came out has faults: "
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

    /// The options that make a bridge look at something else than the API: its own origin gets the credentials.
    private static func look(
        at url: String, _ members: [(key: String, value: ConfigValue)]
    ) -> [(key: String, value: ConfigValue)] {
        var origin = url
        if let scheme = url.firstRange(of: "://") {
            let host = url[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            origin = String(url[..<scheme.upperBound]) + host
        }
        return [("url", .string(origin)), ("introspect", .object(members))]
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

    /// A document as JSON text: bridges read no YAML.
    private static func json(_ text: String, _ place: String) throws -> String {
        let start = text.unicodeScalars.first { !$0.properties.isWhitespace && $0 != "\u{FEFF}" }
        if start == "{" || start == "[" { return text }
        if start == "<" {
            throw IntrospectionError(
                message: "\(place) is a web page or XML, no OpenAPI document",
                remedy: "give the address of the document itself, in JSON or YAML")
        }
        do {
            return try YAMLDocument.json(text)
        } catch {
            throw IntrospectionError(
                message: "\(place) is neither JSON nor YAML: \(error)", remedy: "check what it holds")
        }
    }

    /// `petstore` of "Swagger Petstore", else of the host's name.
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
    /// What failed, on which thing.
    public let message: String
    /// What to do.
    public let remedy: String
    /// The configuration as far as it got.
    public let text: String?

    init(message: String, remedy: String, text: String? = nil) {
        self.message = message
        self.remedy = remedy
        self.text = text
    }

    /// Message and remedy on one line.
    public var description: String { "\(message); \(remedy)" }
}
