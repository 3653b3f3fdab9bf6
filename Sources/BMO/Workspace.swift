public import BridgeHost
internal import Foundation
public import Mapping
public import Model
public import StoreContract

/// A configuration with its plugins, model and database.
///
/// ```swift
/// let host = BridgeHost(logger: logger)
/// let workspace = try await Workspace.load(path: "bmo.yml", host: host, stores: SQLiteStores())
/// let report = try await workspace.sync { event in print(event) }
/// ```
public struct Workspace: Sendable {
    /// The configuration as read from the file.
    public let configuration: Configuration
    /// The parsed file, which locates faults that bridges find; nil if they have no location.
    package var file: ConfigurationFile?
    /// The plugins that the configuration names, by name.
    public let plugins: [String: PluginListing]
    /// Why plugins can't be used, by name; only for reasons outside of the configuration.
    package var refusals: [String: String] = [:]
    /// The compiled model.
    public let model: CompiledModel
    /// The host that finds plugins.
    public let host: BridgeHost
    /// The kind of database that the configuration names.
    public let stores: any StoreProvider
    /// The recording or replay of the exchanges with the remotes; usually nil.
    package var session: ExchangeSession?
    /// Whether the bridges get stand-ins for their secrets, which then need not exist: for tests.
    package var needsNoSecrets = false
    /// The fingerprints of the model's mappings.
    let fingerprints: MappingFingerprints

    init(
        configuration: Configuration, file: ConfigurationFile? = nil, plugins: [String: PluginListing],
        refusals: [String: String] = [:], model: CompiledModel, host: BridgeHost, stores: any StoreProvider,
        session: ExchangeSession? = nil, needsNoSecrets: Bool = false
    ) {
        self.configuration = configuration
        self.file = file
        self.plugins = plugins
        self.refusals = refusals
        self.model = model
        self.host = host
        self.stores = stores
        self.session = session
        self.needsNoSecrets = needsNoSecrets
        fingerprints = MappingFingerprints(of: model.model)
    }

    /// Reads and checks a configuration, with the schemas of the plugins that it names.
    ///
    /// Does not connect to anything.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - host: The host that finds plugins.
    ///   - stores: The kind of database.
    ///   - code: The code that the file names.
    ///   - environment: The variables that secrets may name.
    /// - Throws: `ConfigurationErrors` with every fault at once.
    public static func load(
        path: String, host: BridgeHost, stores: any StoreProvider, code: CustomCode = CustomCode(),
        environment: [String: String] = Workspace.environment
    ) async throws -> Workspace {
        try await load(
            ConfigurationFile(path: path), host: host, stores: stores, code: code, environment: environment)
    }

    /// Reads a configuration so that a bridge with an unusable plugin fails only when it is connected to.
    ///
    /// Other bridges keep working. It is an error if no plugin can be used.
    ///
    /// - Parameter preloaded: The entities whose plugins start to load meanwhile; unless there are none, the secrets leave
    ///   this process's environment.
    package static func load(
        _ file: ConfigurationFile, host: BridgeHost, stores: any StoreProvider, toleratesRefusals: Bool,
        preloading preloaded: PreloadedEntities = .none
    ) async throws -> Workspace {
        try await load(
            file, host: host, stores: stores, environment: Workspace.environment, toleratesRefusals: toleratesRefusals,
            preloading: preloaded)
    }

    /// Checks a configuration that was defined in code, with the schemas of the plugins that it names.
    ///
    /// - Parameters:
    ///   - definition: The bridges and entities.
    ///   - host: The host that finds plugins.
    ///   - stores: The kind of database.
    ///   - environment: The variables that secrets may name.
    /// - Throws: `ConfigurationErrors` with every fault at once, each with its line of the generated text.
    public static func load(
        _ definition: ModelDefinition, host: BridgeHost, stores: any StoreProvider,
        environment: [String: String] = Workspace.environment
    ) async throws -> Workspace {
        let (text, path) = definition.text
        do {
            return try await load(
                ConfigurationFile(text: text, path: path), host: host, stores: stores, code: definition.code,
                environment: environment)
        } catch let errors as ConfigurationErrors {
            throw errors.quoting(definition.hidingPassword(in: text))
        }
    }

    /// Checks a configuration that was parsed before; see ``load(path:host:stores:environment:)``.
    ///
    /// A draft without schemas says which plugins the configuration names; their schemas validate it.
    static func load(
        _ file: ConfigurationFile, host: BridgeHost, stores: any StoreProvider, code: CustomCode = CustomCode(),
        environment: [String: String], toleratesRefusals: Bool = false, preloading preloaded: PreloadedEntities = .none
    ) async throws -> Workspace {
        let draft = try? file.configuration()
        let (listings, refused) = try await plugins(namedIn: draft, host: host)
        if !refused.isEmpty, !toleratesRefusals || listings.isEmpty {
            throw ConfigurationErrors(diagnostics: refused.map(\.fault))
        }
        let usable = listings.filter { $0.refusal == nil }
        if let draft { preload(preloaded, of: draft, usable, host) }
        var schemas = usable.map {
            PluginSchema(name: $0.name, optionsSchema: $0.optionsSchema, entitySchema: $0.entitySchema)
        }
        // The schemas of unusable plugins are unknown, and their bridges are never opened.
        schemas += refused.map { PluginSchema(name: $0.plugin, optionsSchema: "{}", entitySchema: "{}") }
        let configuration = try file.configuration(plugins: schemas, environment: environment)
        var faults = missingCapabilities(configuration, usable) + missingCode(configuration.model, code)
        faults += misfits(in: configuration.model)
        guard faults.isEmpty else { throw ConfigurationErrors(diagnostics: faults) }
        let model = try CompiledModel(configuration.model, code: code)
        let location = configuration.databasePath
        let wide =
            tooWide(model, most: stores.mostColumns(of: location))
            + tooLongKeys(model, most: stores.mostKeyAttributes(of: location))
        guard wide.isEmpty else { throw ConfigurationErrors(diagnostics: wide) }
        return Workspace(
            configuration: configuration, file: file,
            plugins: Dictionary(usable.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }),
            refusals: Dictionary(
                refused.map { ($0.plugin, $0.fault.message) }, uniquingKeysWith: { first, _ in first }),
            model: model, host: host, stores: stores)
    }

    /// The entities whose plugins start to load before the configuration is checked.
    package enum PreloadedEntities {
        case none, all
        case named([String])
    }

    /// Starts to load the plugins that run in this process, so that they are ready when they are called.
    ///
    /// The secrets leave the environment first, as with ``takeSecrets()``: a library may read it while it is loaded.
    private static func preload(
        _ entities: PreloadedEntities, of configuration: Configuration, _ plugins: [PluginListing], _ host: BridgeHost
    ) {
        let bridges = configuration.model.entities.filter { entity in
            switch entities {
            case .none: false
            case .all: entity.isScanned
            case .named(let names): names.contains(entity.name)
            }
        }.map(\.bridge)
        let names = configuration.bridges.filter {
            bridges.contains($0.name) && $0.isolation ?? .inProcess == .inProcess
        }.map(\.plugin)
        guard !names.isEmpty else { return }
        takeSecrets(configuration.secretVariables)
        for plugin in plugins where names.contains(plugin.name) { host.preload(plugin) }
    }

    /// A plugin that exists and can't be used.
    private struct Refused {
        let plugin: String
        let fault: Diagnostic
    }

    /// Returns the capabilities that entities need and that their bridges lack.
    private static func missingCapabilities(
        _ configuration: Configuration, _ plugins: [PluginListing]
    ) -> [Diagnostic] {
        configuration.model.entities.flatMap { entity -> [Diagnostic] in
            let scans =
                [(what: entity.name, entity.bridge, entity.incremental, entity.parent, entity.location)]
                + entity.sources.map {
                    ("\(entity.name).sources.\($0.name)", $0.bridge, $0.incremental, $0.parent, $0.location)
                }
            let writing = missingWrites(of: entity, configuration, plugins)
            return writing
                + scans.flatMap { what, bridge, incremental, parent, location -> [Diagnostic] in
                    guard let plugin = configuration.bridge(named: bridge)?.plugin,
                        let listing = plugins.first(where: { $0.name == plugin })
                    else { return [] }
                    let wanted = [
                        incremental.map { ("incremental", $0.endsAtKnown ? "newest_first" : "incremental") },
                        parent == nil ? nil : ("parent", "parent"),
                    ].compactMap { $0 }
                    return wanted.filter { !listing.can($0.1) }.map { key, capability in
                        Diagnostic(
                            location: location,
                            message:
                                "\"\(key)\" of \(what): the plugin \"\(plugin)\" of its bridge lacks the capability "
                                + "\"\(capability)\"",
                            remedy: "remove the key, or use another bridge")
                    }
                }
        }
    }

    /// Returns the capabilities that a writable entity, or `read_one`, needs and that its bridge lacks.
    private static func missingWrites(
        of entity: Entity, _ configuration: Configuration, _ plugins: [PluginListing]
    ) -> [Diagnostic] {
        guard entity.isScanned, let plugin = configuration.bridge(named: entity.bridge)?.plugin,
            let listing = plugins.first(where: { $0.name == plugin })
        else { return [] }
        func fault(_ message: String, _ remedy: String) -> Diagnostic {
            Diagnostic(location: entity.location, message: message, remedy: remedy)
        }
        var faults: [Diagnostic] = []
        if entity.readOne != nil, !listing.can("parent") {
            faults.append(
                fault(
                    "\"read_one\" of \(entity.name): the plugin \"\(plugin)\" of its bridge lacks the capability "
                        + "\"parent\"", "remove the key"))
        }
        guard configuration.model.isWritable(entity) else { return faults }
        if !["create", "update", "delete"].contains(where: listing.can) {
            faults.append(
                fault(
                    "\(entity.name) is \"writable\", and the plugin \"\(plugin)\" of its bridge cannot write",
                    "remove the key, or use another bridge"))
        }
        if listing.namesWrites, entity.section["write"] == nil {
            faults.append(
                fault(
                    "\(entity.name) is \"writable\", and its section \(plugin) has no \"write\"",
                    "add \"write: {create: ..., update: ..., delete: ...}\" to the section, or remove \"writable\""))
        }
        return faults
    }

    /// Returns the plugins that a configuration names, or all plugins when it has faults, so that the messages can list
    /// them.
    private static func plugins(
        namedIn draft: Configuration?, host: BridgeHost
    ) async throws -> ([PluginListing], [Refused]) {
        guard let draft else { return (await host.plugins(), []) }
        var listings: [String: PluginListing] = [:]
        var found: [Refused] = []
        for bridge in draft.bridges
        where listings[bridge.plugin] == nil && !found.contains(where: { $0.plugin == bridge.plugin }) {
            if let listing = try? await host.plugin(named: bridge.plugin) {
                listings[bridge.plugin] = listing
                continue
            }
            let all = await host.plugins()
            let file = "/lib\(bridge.plugin)bridge.so".lowercased()
            let refused = all.first {
                $0.refusal != nil && ($0.name == bridge.plugin || $0.path.lowercased().hasSuffix(file))
            }
            guard let refused, let refusal = refused.refusal else { return (all, []) }
            let fault = Diagnostic(
                location: bridge.location,
                message: "the plugin \"\(bridge.plugin)\" can't be used: \(refused.path): \(refusal)")
            found.append(Refused(plugin: bridge.plugin, fault: fault))
        }
        return (Array(listings.values), found)
    }

    /// Opens the database, and creates it if necessary.
    ///
    /// - Throws: `StoreError`.
    public func openStore() throws -> any Store {
        try stores.open(configuration.databasePath, model: model, for: .writing)
    }

    /// Opens the database for local edits, which need the lock only for a migration.
    ///
    /// - Parameter command: The command that other processes see as the lock's holder; no secrets.
    /// - Throws: `StoreError`, `busy` with the holder when another process holds the needed lock.
    public func openStoreForEdits(command: String) throws -> any Store {
        let path = configuration.databasePath
        if stores.exists(path) {
            do {
                try openStoreForReading().close()
            } catch let error as StoreError where error.code == .schema {
                let lock = try stores.lock(path, command: command)
                defer { lock.release() }
                return try openStore()
            }
        }
        return try openStore()
    }

    /// Opens an existing database for reading, without changing the file or taking the lock.
    ///
    /// - Parameter entities: The indexes of the entities to read; nil for all.
    /// - Throws: `StoreError`: `schema` when the file does not have their tables and columns yet.
    public func openStoreForReading(of entities: [Int]? = nil) throws -> any Store {
        try stores.open(configuration.databasePath, model: model, for: .reading(entities: entities))
    }

    /// Opens the database for ``plan(_:in:)`` if it exists, without changing the file.
    ///
    /// Missing tables and columns exist while the store is open, as in a dry run.
    ///
    /// - Throws: `StoreError`.
    public func openStoreForPlan() throws -> (any Store)? {
        let path = configuration.databasePath
        guard stores.exists(path) else { return nil }
        do {
            return try openStoreForReading()
        } catch let error as StoreError where error.code == .schema {
            do {
                return try stores.open(path, model: model, for: .rehearsing)
            } catch let other as StoreError where other.code == .open {
                // The file is not writable.
                throw error
            }
        }
    }

    /// Opens the database for writing with the file lock, which the store holds until it is closed.
    ///
    /// The lock is taken first, so that the database is never migrated while another process writes it.
    ///
    /// - Parameters:
    ///   - command: The command that other processes see as the lock's holder; no secrets.
    ///   - timeout: How long to wait when another process holds the lock.
    ///   - rehearsing: Whether to discard all writes and create no file: see `StoreUse.rehearsing`.
    ///   - onWait: Called once before a wait, with the holder if known.
    /// - Throws: `StoreError`, `busy` with the holder when another process holds the lock; `CancellationError`.
    public func openLockedStore(
        command: String, timeout: LockTimeout = .none, rehearsing: Bool = false,
        onWait: (LockHolder?) -> Void = { _ in }
    ) async throws -> any Store {
        try await openLockedStore(
            command: command, timeout: timeout, rehearsing: rehearsing, onWait: onWait, whenLocked: {})
    }

    /// Opens the database with the file lock.
    ///
    /// - Parameter whenLocked: Called with the lock on a thread of its own, before the database is opened and its tables
    ///   are adapted; an error releases the lock.
    func openLockedStore(
        command: String, timeout: LockTimeout = .none, rehearsing: Bool = false,
        onWait: (LockHolder?) -> Void = { _ in }, whenLocked: @escaping @Sendable () throws -> Void
    ) async throws -> any Store {
        let lock = try await stores.lock(
            configuration.databasePath, command: command, timeout: timeout, onWait: onWait)
        return try await ImportThread(label: "bmo.open").run { [self] in
            do {
                try whenLocked()
            } catch {
                lock.release()
                throw error
            }
            let store = try stores.open(
                configuration.databasePath, model: model, for: rehearsing ? .rehearsing : .writing)
            store.keep(lock)
            return store
        }
    }

    /// Connects to a bridge of the configuration.
    ///
    /// - Throws: `BridgeFailure`, `SecretError`.
    public func connect(to bridge: BridgeConfiguration) async throws -> BridgeConnection {
        try await connect(to: bridge, adding: [])
    }

    /// Opens a bridge whose options get further members from the host.
    func connect(
        to bridge: BridgeConfiguration, adding members: [(key: String, value: ConfigValue)]
    ) async throws -> BridgeConnection {
        guard let plugin = plugins[bridge.plugin] else {
            if let refusal = refusals[bridge.plugin] {
                throw BridgeFailure(
                    .configuration, refusal, bridge: bridge.name, remedy: "`bmo plugins` lists the available ones")
            }
            throw BridgeFailure(.configuration, "there is no plugin `\(bridge.plugin)`", bridge: bridge.name)
        }
        var encoder = ConfigEncoder(
            directory: configuration.directory, session: session, needsNoSecrets: needsNoSecrets)
        var options = try encoder.batch(
            members.isEmpty ? bridge.options : .object((bridge.options.members ?? []) + members))
        // The bridge's messages must not show the secrets of its entities' sections either.
        for entity in configuration.model.entities {
            if entity.bridge == bridge.name {
                _ = try encoder.batch(entity.section)
                if let one = entity.readOne { _ = try encoder.batch(one) }
            }
            for source in entity.sources where source.bridge == bridge.name { _ = try encoder.batch(source.section) }
        }
        if let session {
            guard plugin.can("replay") else { throw ExchangeSession.refusal(of: bridge) }
            var again = encoder
            options = try again.batch(session.options(bridge, secrets: encoder.secrets))
        }
        let isolation: PluginListing.Isolation? =
            switch bridge.isolation {
            case .process, .external: .childProcess
            case .inProcess: .inProcess
            case nil: nil
            }
        return try await host.connect(
            to: plugin, options: options, name: bridge.name, secrets: encoder.secrets, isolation: isolation,
            memory: bridge.memory, patience: bridge.retryFor,
            texts: SharedLogins(stores: stores, location: configuration.databasePath, bridge: bridge.name))
    }
}
