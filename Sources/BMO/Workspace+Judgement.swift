internal import BridgeHost
internal import Mapping
public import Model
internal import RecordBatch

extension Workspace {
    /// What the bridges find wrong with their options and with their entities' sections, without asking any remote.
    ///
    /// Only bridges that can judge are opened, and none whose secrets are not there.
    ///
    /// - Returns: The faults in the order of the file, each with its place; and the bridges that could not be asked because
    ///   a secret is not there.
    public func faults() async -> (faults: [Diagnostic], unjudged: [String]) {
        var faults: [Diagnostic] = []
        var unjudged: [String] = []
        let places = ConfigurationPlaces(file: configuration.file)
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
                        location: places.location(of: path) ?? bridge.location,
                        message: "\(bridge.name): \(failure.message)", remedy: failure.remedy))
                continue
            } catch {
                // A secret that is not there has its own warning.
                unjudged.append(bridge.name)
                continue
            }
            for (index, entity) in model.model.entities.enumerated() where entity.isWalked {
                for source in [nil] + entity.sources.map(Optional.some)
                where (source?.bridge ?? entity.bridge) == bridge.name {
                    faults += await self.faults(entity, index, source, connection, bridge, places)
                }
            }
            await connection.close()
        }
        // The same fault may show in several parts of a section.
        var seen: Set<String> = []
        return (faults.sorted { $0.location < $1.location }.filter { seen.insert($0.message).inserted }, unjudged)
    }

    private func faults(
        _ entity: Entity, _ index: Int, _ source: EntitySource?, _ connection: BridgeConnection,
        _ bridge: BridgeConfiguration, _ places: ConfigurationPlaces
    ) async -> [Diagnostic] {
        let place = source?.location ?? entity.location
        let section = JudgedSection(
            what: entity.name + (source.map { ".sources.\($0.name)" } ?? ""), entity: entity.name,
            home: ["entities", entity.name] + (source.map { ["sources", $0.name] } ?? []) + [bridge.plugin],
            place: place, places: places)
        guard let plan = try? WalkPlan(entity, index, source: source, in: self) else { return [] }
        var request = judgement(of: entity, index, section: plan.section)
        // Only an entity's own bridge is written to.
        request.isWritable = source == nil && configuration.model.isWritable(entity)
        if case .field(let name, _)? = plan.incremental, connection.plugin.can("incremental") {
            // As of a parent, the name stands for a value.
            request.since = "\(entity.name).\(name)"
        }
        if let parent = plan.parent { request.parent = try? placeholder(parent, of: index).values }
        var faults = await section.faults(request, connection)
        guard source == nil, let readOne = entity.readOne, let batch = try? PushRequest.section(readOne, self) else {
            return faults
        }
        var reading = judgement(of: entity, index, section: batch)
        reading.parent = try? placeholder(ParentWalk(relationship: nil), of: index).values
        faults += await JudgedSection(
            what: "\(entity.name).read_one", entity: entity.name, home: ["entities", entity.name, "read_one"],
            place: place, places: places
        ).faults(reading, connection)
        return faults
    }

    private func judgement(of entity: Entity, _ index: Int, section: RecordBatch) -> FetchRequest {
        let layout = model.entities[index]
        var request = FetchRequest(entity: entity.name, section: section)
        request.judges = true
        request.fieldNames = layout.columns.map(\.name)
        request.keyNames = layout.key.map { layout.fields[$0].name }
        return request
    }

    /// An object of a parent whose values are the names of its attributes.
    func placeholder(_ walk: ParentWalk, of index: Int) throws -> ParentObject {
        let layout = model.entities[index]
        let relationship = walk.relationship.flatMap { name in layout.toOne.firstIndex { $0.name == name } }
        let target = model.entities[relationship.map { layout.toOne[$0].target } ?? index]
        let names = target.fields.map { StoredValue.text("\(target.name).\($0.name)") }
        return try ParentObject(names, target, relationship: relationship)
    }
}

/// A part of the configuration that a bridge judges.
private struct JudgedSection {
    /// How messages name it.
    let what: String
    let entity: String
    /// Where it is in the file.
    let home: [String]
    /// What counts where the file does not have the very key.
    let place: SourceLocation
    let places: ConfigurationPlaces

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
                                diagnostic(records[index]["key"]?.text, message, records[index]["remedy"]?.text))
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
            return [diagnostic(nil, failure.message, failure.remedy)]
        } catch {
            return []
        }
    }

    private func diagnostic(_ key: String?, _ message: String, _ remedy: String?) -> Diagnostic {
        let path = home + (key ?? "").split(separator: ".").map(String.init)
        let text = message.hasPrefix("\(entity): ") ? message : "\(what): \(message)"
        return Diagnostic(location: places.location(of: path) ?? place, message: text, remedy: remedy)
    }
}
