internal import BridgeHost
internal import Mapping
public import Model
internal import RecordBatch

extension Workspace {
    /// Returns the faults that bridges find in their options and in their entities' sections, without contacting any
    /// remote.
    ///
    /// Opens only bridges that can validate sections and whose secrets are available.
    ///
    /// - Returns: The located faults in the order of the file, and the bridges that could not validate because a secret
    ///   is missing.
    public func faults() async -> (faults: [Diagnostic], notValidated: [String]) {
        let found = await validations()
        return (found.diagnostics.filter { $0.severity == .error }, found.notValidated)
    }

    /// Returns the results of ``faults()`` together with the warnings.
    public func validations() async -> (diagnostics: [Diagnostic], notValidated: [String]) {
        var faults: [Diagnostic] = []
        var notValidated: [String] = []
        for bridge in configuration.bridges {
            guard plugins[bridge.plugin]?.can("judge") == true else { continue }
            let connection: BridgeConnection
            do {
                connection = try await connect(to: bridge)
            } catch let failure as BridgeFailure {
                let key = failure.message.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
                let path = ["bridges", bridge.name, "options"] + key.split(separator: ".").map(String.init)
                faults.append(
                    Diagnostic(
                        location: file?.location(of: path) ?? bridge.location,
                        message: "\(bridge.name): \(failure.message)", remedy: failure.remedy))
                continue
            } catch {
                // A missing secret has its own warning.
                notValidated.append(bridge.name)
                continue
            }
            faults += await validate(
                Array(model.model.entities.indices), on: bridge, connection, isCheck: true)
            await connection.close()
        }
        return (Self.inOrder(faults), notValidated)
    }

    /// Rejects entities whose sections `bmo check` would reject, before they are fetched or written.
    ///
    /// Connects only to bridges that the work needs anyway, and costs one bridge call for each section. A failure to
    /// connect is left to the work itself, which fails for the same reason.
    ///
    /// - Throws: ``ConfigurationErrors`` with every fault, in the order of the file; `CancellationError`.
    func refuseFaults(of entities: [Int], over connections: Connections) async throws {
        let bridges = Set(
            entities.flatMap { index in
                let entity = model.model.entities[index]
                return [entity.bridge] + entity.sources.map(\.bridge)
            })
        let faults = await withTaskGroup(of: [Diagnostic].self) { group in
            for bridge in configuration.bridges
            where bridges.contains(bridge.name) && plugins[bridge.plugin]?.can("judge") == true {
                group.addTask {
                    guard let connection = try? await connections.connection(for: bridge.name) else { return [] }
                    return await validate(entities, on: bridge, connection, isCheck: false)
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        try Task.checkCancellation()
        guard faults.contains(where: { $0.severity == .error }) else { return }
        throw ConfigurationErrors(diagnostics: Self.inOrder(faults))
    }

    /// Refuses a configuration with faults that `bmo check` finds, over connections that are closed again.
    ///
    /// - Parameter entities: The names of the entities that are used; nil for all.
    /// - Throws: ``ConfigurationErrors``, `CancellationError`.
    func refuseFaults(of entities: [String]?) async throws {
        let connections = Connections(self)
        do {
            try await refuseFaults(of: syncOrder(entities), over: connections)
        } catch {
            await connections.close()
            throw error
        }
        await connections.close()
    }

    /// Refuses a configuration with which a program that runs for long would not start.
    ///
    /// It may be called again and again, and so reads no rows.
    ///
    /// - Parameter entities: The names of the entities that are used; nil for all.
    /// - Throws: ``ConfigurationErrors`` for faults that `bmo check` finds; `StoreError` of the code `schema` if the
    ///   database has to be migrated by a person; `CancellationError`.
    func refuseUnusable(_ entities: [String]?) async throws {
        try await refuseFaults(of: entities)
        let path = configuration.databasePath
        guard stores.exists(path) else { return }
        let plan = try stores.schemaPlan(of: path, to: model)
        if !plan.obstacles.isEmpty { throw plan.refusal }
    }

    /// Sorts the faults and removes duplicates: the same fault may show in several parts of a section.
    private static func inOrder(_ faults: [Diagnostic]) -> [Diagnostic] {
        var seen: Set<String> = []
        return faults.sorted { $0.location < $1.location }.filter { seen.insert($0.message).inserted }
    }

    /// Returns the faults that a bridge finds in the sections of entities.
    ///
    /// - Parameter isCheck: Whether any failure of the bridge counts, or only its faults in the configuration.
    private func validate(
        _ entities: [Int], on bridge: BridgeConfiguration, _ connection: BridgeConnection, isCheck: Bool
    ) async -> [Diagnostic] {
        var faults: [Diagnostic] = []
        for index in entities {
            let entity = model.model.entities[index]
            guard entity.isScanned else { continue }
            for source in [nil] + entity.sources.map(Optional.some)
            where (source?.bridge ?? entity.bridge) == bridge.name {
                faults += await self.faults(entity, index, source, connection, bridge, isCheck)
            }
        }
        return faults
    }

    private func faults(
        _ entity: Entity, _ index: Int, _ source: EntitySource?, _ connection: BridgeConnection,
        _ bridge: BridgeConfiguration, _ isCheck: Bool
    ) async -> [Diagnostic] {
        let place = source?.location ?? entity.location
        let section = ValidatedSection(
            what: entity.name + (source.map { ".sources.\($0.name)" } ?? ""), entity: entity.name,
            home: ["entities", entity.name] + (source.map { ["sources", $0.name] } ?? []) + [bridge.plugin],
            place: place, file: file, isCheck: isCheck)
        guard let plan = try? ScanPlan(entity, index, source: source, in: self) else { return [] }
        var request = validation(of: entity, index, section: plan.section)
        request.inheritedMembers = section.inherited(of: source?.section ?? entity.section)
        request.fieldPaths = plan.fieldPaths
        request.newestFirst = plan.incremental?.endsAtKnown == true && connection.plugin.can("newest_first")
        // Only an entity's own bridge is written to.
        request.isWritable = source == nil && configuration.model.isWritable(entity)
        if request.isWritable, entity.readOne == nil {
            request.names?.nested = OutgoingPlan(of: index, in: model).nestedNames
        }
        if case .field(let name, _, .any)? = plan.incremental, connection.plugin.can("incremental") {
            // The name stands for a value, as with a parent.
            request.since = "\(entity.name).\(name)"
        }
        if plan.incremental == .token, connection.plugin.can("incremental") {
            request.token = "\(entity.name).token"
        }
        if let parent = plan.parent { request.parent = try? placeholder(parent, of: index).options }
        var faults = await section.faults(request, connection)
        guard source == nil, let readOne = entity.readOne, let batch = try? PushRequest.section(readOne, self) else {
            return faults
        }
        var reading = validation(of: entity, index, section: batch)
        reading.fieldPaths = plan.fieldPaths
        reading.parent = try? placeholder(ParentScan(relationship: nil), of: index).options
        faults += await ValidatedSection(
            what: "\(entity.name).read_one", entity: entity.name, home: ["entities", entity.name, "read_one"],
            place: place, file: file, isCheck: isCheck
        ).faults(reading, connection)
        return faults
    }

    private func validation(of entity: Entity, _ index: Int, section: RecordBatch) -> FetchRequest {
        let layout = model.entities[index]
        var request = FetchRequest(entity: entity.name, section: section)
        request.validates = true
        request.names = EntityNames(
            fields: layout.columns.map(\.name), key: layout.key.map { layout.fields[$0].name })
        return request
    }

    /// Returns a parent object whose values are the names of its attributes.
    func placeholder(_ scan: ParentScan, of index: Int) throws -> ParentObject {
        let layout = model.entities[index]
        let relationship = scan.relationship.flatMap { name in layout.toOne.firstIndex { $0.name == name } }
        let target = model.entities[relationship.map { layout.toOne[$0].target } ?? index]
        let names = target.fields.map { StoredValue.text("\(target.name).\($0.name)") }
        return try ParentObject(names, target, relationship: relationship)
    }
}

/// A part of the configuration that a bridge validates.
private struct ValidatedSection {
    /// Its name in messages.
    let what: String
    let entity: String
    /// Its path in the file.
    let home: [String]
    /// The location to use where the file lacks the exact key.
    let place: SourceLocation
    /// The file, if its members have locations.
    let file: ConfigurationFile?
    /// Whether any failure of the bridge is a fault.
    let isCheck: Bool

    /// Returns the members of the section that are not in the entity's or source's own place in the file.
    func inherited(of section: ConfigValue) -> [String] {
        guard let file else { return [] }
        return (section.members ?? []).map(\.key).filter { file.exactLocation(of: home + [$0], isName: true) == nil }
    }

    func faults(_ request: FetchRequest, _ connection: BridgeConnection) async -> [Diagnostic] {
        do {
            let stream = try await connection.fetch(request)
            var faults: [Diagnostic] = []
            do {
                while let fetched = try await stream.next() {
                    guard let records = fetched.records else { continue }
                    withExtendedLifetime(records) {
                        for index in 0..<records.count {
                            guard let message = records[index]["message"]?.text else { continue }
                            faults.append(
                                diagnostic(
                                    records[index]["key"]?.text, message, records[index]["remedy"]?.text,
                                    records[index]["warning"]?.boolean == true ? .warning : .error))
                        }
                    }
                }
            } catch {
                await stream.close()
                throw error
            }
            await stream.close()
            return faults
        } catch let failure as BridgeFailure {
            guard isCheck || failure.code == .configuration else { return [] }
            return [diagnostic(nil, failure.message, failure.remedy)]
        } catch {
            return []
        }
    }

    private func diagnostic(
        _ key: String?, _ message: String, _ remedy: String?, _ severity: Diagnostic.Severity = .error
    ) -> Diagnostic {
        let path = home + (key ?? "").split(separator: ".").map(String.init)
        let text = message.hasPrefix("\(entity): ") ? message : "\(what): \(message)"
        return Diagnostic(
            location: file?.location(of: path) ?? place, severity: severity, message: text, remedy: remedy)
    }
}
