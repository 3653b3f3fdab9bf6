public import BridgeHost
internal import Foundation
internal import Importer
internal import Model
internal import RecordBatch
public import StoreContract

/// Attributes learned from the records: `attributes: auto`.
extension Workspace {
    /// How many records of a first page are read.
    private static let maxRecords = 1000
    /// How many values of unread members are read.
    private static let maxValues = 100_000

    /// Learns the attributes of entities with `attributes: auto`, and writes them to a file beside the configuration,
    /// which every later `load(path:host:environment:)` reads.
    ///
    /// An entity without learned attributes has its first page fetched. For the others, members that the last sync
    /// could only keep in the column `extra` become attributes: the next sync adds their columns. Call it before a
    /// sync; it does nothing where no entity has such attributes.
    ///
    /// - Parameters:
    ///   - path: The configuration's file.
    ///   - host: The host that finds plugins.
    ///   - stores: The kind of database.
    /// - Returns: The new attributes, a sentence for each entity.
    /// - Throws: `ConfigurationErrors`, `BridgeFailure`, `SecretError`; then nothing was written.
    public static func learnAttributes(
        path: String, host: BridgeHost, stores: any StoreProvider
    ) async throws -> [String] {
        try await learnAttributes(ConfigurationFile(path: path), host: host, stores: stores, takesSecrets: false)
    }

    /// Learns attributes as ``learnAttributes(path:host:stores:)`` does.
    ///
    /// - Parameter takesSecrets: Whether secret variables are removed from this process's environment before a bridge
    ///   is called: see ``takeSecrets()``.
    package static func learnAttributes(
        _ document: ConfigurationFile, host: BridgeHost, stores: any StoreProvider, takesSecrets: Bool
    ) async throws -> [String] {
        guard let file = document.value else { return [] }
        let usual = file["defaults"]?["attributes"]
        let automatic = (file["entities"]?.members ?? []).filter { _, entity in
            // Sub-entities have no defaults, and an entity without a listing has no records to read.
            let own = entity["attributes"] ?? (entity["extends"] == nil && entity["listing"] == nil ? usual : nil)
            return own?.string == LearnedAttributes.word
        }
        guard !automatic.isEmpty else { return [] }
        let place = LearnedAttributes.path(beside: document.path)
        var learned = try LearnedFile(path: place)
        var notes: [String] = []
        for (name, entity) in automatic where !learned.has(name) {
            var names = LearnedNames(entity, file["defaults"])
            let look = try await look(
                at: name, entity, in: file, path: document.path, host: host, stores: stores, takesSecrets: takesSecrets)
            let new = names.attributes(look.members)
            guard !new.isEmpty else {
                throw BridgeFailure(
                    .remote,
                    "the attributes of \(name) are \"auto\", and the \(look.records) records of its listing's first page have "
                        + "no member with a value",
                    bridge: entity["bridge"]?.string ?? "",
                    remedy: "list the attributes, or sync once there are such records")
            }
            learned.add(new, to: name)
            notes.append(
                "\(name): \(new.count) attributes, as the first \(look.records) records have them: "
                    + "\(words(new)); \(learned.name) has them from now on")
        }
        guard notes.isEmpty else {
            try learned.write()
            return notes
        }
        return try await evolve(automatic, file["defaults"], &learned, document, host: host, stores: stores)
    }

    private static func words(_ attributes: [(key: String, value: ConfigValue)]) -> String {
        attributes.prefix(20).map { "\($0.key) \($0.value.string ?? $0.value["type"]?.string ?? "")" }
            .joined(separator: ", ") + (attributes.count > 20 ? ", ..." : "")
    }

    /// Returns the members of an entity's first records, in their order.
    private static func look(
        at name: String, _ entity: ConfigValue, in file: ConfigValue, path: String, host: BridgeHost,
        stores: any StoreProvider, takesSecrets: Bool
    ) async throws -> (members: [(name: String, kinds: LearnedKinds)], records: Int) {
        let text = provisional(name, entity, in: file)
        let workspace: Workspace
        do {
            workspace = try await load(
                ConfigurationFile(text: text, path: path), host: host, stores: stores,
                environment: Workspace.environment)
            if takesSecrets { workspace.takeSecrets() }
        } catch let errors as ConfigurationErrors {
            throw errors.quoting(text)
        }
        guard let known = workspace.configuration.model.entities.first,
            let bridge = workspace.configuration.bridge(named: known.bridge)
        else { return ([], 0) }
        let connection = try await workspace.connect(to: bridge)
        return try await connection.closing {
            var encoder = ConfigEncoder(directory: workspace.configuration.directory)
            var request = FetchRequest(entity: name, section: try encoder.batch(known.section))
            request.prefetches = false
            return try await members(of: request, over: connection)
        }
    }

    private static func members(
        of request: FetchRequest, over connection: BridgeConnection
    ) async throws -> (members: [(name: String, kinds: LearnedKinds)], records: Int) {
        var members = LearnedMembers()
        var records = 0
        let stream = try await connection.fetch(request)
        do {
            while let fetched = try await stream.next() {
                if let batch = fetched.records {
                    withExtendedLifetime(batch) {
                        for index in 0..<min(batch.count, maxRecords - records) { members.note(batch[index]) }
                    }
                    records += min(batch.count, maxRecords - records)
                }
                if records > 0 && fetched.page.pageEnd || records >= maxRecords { break }
            }
        } catch {
            await stream.close()
            throw error
        }
        await stream.close()
        return (members.all, records)
    }

    /// Returns a configuration with only the entity's listing, so that a bridge can be called before the attributes are
    /// known.
    private static func provisional(_ name: String, _ entity: ConfigValue, in file: ConfigValue) -> String {
        let defaults = file["defaults"]
        let bridge = entity["bridge"] ?? defaults?["bridge"] ?? .null
        let bridges = (file["bridges"]?.members ?? []).filter { $0.key == bridge.string }
        let plugin = bridges.first?.value["plugin"]?.string ?? ""
        let section = [defaults?[plugin], entity[plugin]].compactMap { $0?.members }
            .reduce(into: [(key: String, value: ConfigValue)]()) { merged, own in
                merged.removeAll { member in own.contains { $0.key == member.key } }
                merged += own
            }
        let root: ConfigValue = .object([
            ("version", .int(1)), ("bridges", .object(bridges)),
            (
                "entities",
                .object([
                    (
                        name,
                        .object([
                            ("bridge", bridge), ("unique", .string("none")),
                            ("attributes", .object([("found", .string("json"))])), (plugin, .object(section)),
                        ])
                    )
                ])
            ),
        ])
        return (root.members ?? []).flatMap { YAMLText.lines($0.key, $0.value) }.joined(separator: "\n") + "\n"
    }

    /// Makes attributes of the members that the last sync kept in the columns `extra`, and reports values that did not
    /// fit their attribute.
    private static func evolve(
        _ automatic: [(key: String, value: ConfigValue)], _ defaults: ConfigValue?, _ learned: inout LearnedFile,
        _ document: ConfigurationFile, host: BridgeHost, stores: any StoreProvider
    ) async throws -> [String] {
        let workspace = try await load(document, host: host, stores: stores, toleratesRefusals: true)
        guard workspace.stores.exists(workspace.configuration.databasePath) else { return [] }
        var notes: [String] = []
        var hasNew = false
        for (name, entity) in automatic {
            // Tables that differ from the configuration are skipped: this sync migrates them.
            guard let index = workspace.model.index(of: name),
                let store = try? workspace.openStoreForReading(of: [index])
            else { continue }
            var members = LearnedMembers()
            let values = try store.extraValues(of: workspace.model.entities[index], limit: maxValues)
            for value in values { members.note(value.name, type: value.type, text: value.text) }
            let quarantined = try store.quarantined(entity: name).map(\.record.representation)
            notes += misfits(quarantined, learned.reads(of: name), of: name, in: learned.name)
            try store.close()
            var names = LearnedNames(
                entity, defaults, known: learned.names(of: name))
            let new = names.attributes(members.all)
            guard !new.isEmpty else { continue }
            learned.add(new, to: name)
            hasNew = true
            notes.append("\(name): new in its records, and attributes from now on: \(words(new))")
        }
        if hasNew { try learned.write() }
        return notes
    }

    /// Returns the attributes whose type does not fit quarantined records.
    ///
    /// A type is never changed automatically: one bad record would turn a column of numbers into texts, and the
    /// database needs a migration that the user requests.
    private static func misfits(
        _ quarantined: [String], _ reads: [(name: String, member: String, type: String)], of entity: String,
        in file: String
    ) -> [String] {
        let records = quarantined.prefix(maxRecords).compactMap { try? ConfigValue(json: $0) }
        return reads.compactMap { name, member, type in
            guard var kinds = LearnedKinds(of: type) else { return nil }
            for record in records { if let value = record[member] { kinds.note(value) } }
            guard let wider = kinds.type, wider != type else { return nil }
            return
                "\(entity).\(name) is \(type), which records in quarantine do not fit: to accept them, give it the type "
                + "\(wider) in \(file), then run `bmo migrate --apply`"
        }
    }
}
