public import StoreContract
public import BridgeHost
internal import Foundation
internal import Model

/// A configuration in which another bridge provides one entity, to show what that would change.
///
/// ```swift
/// let swap = try BridgeSwap(of: "User", to: "crm2", in: "bmo.yml", section: "crm2.yml")
/// let workspace = try await swap.workspace(host: host)
/// ```
public struct BridgeSwap: Sendable {
    /// The entity as the file would state it, with the bridges that the file lacks, as YAML.
    public let text: String
    /// The entity's current bridge.
    public let oldBridge: String
    private let entity: String
    /// The configuration.
    private let file: ConfigurationFile
    /// The file that has the section.
    private let section: ConfigurationFile?
    private let configuration: ConfigValue

    /// Keys of an entity that say how its bridge is queried, not what the entity is.
    private static let asking: Set<String> = ["bridge", "incremental", "full_every", "parent"]

    /// Merges the parts without connecting to anything.
    ///
    /// - Parameters:
    ///   - entity: The entity's name.
    ///   - bridge: The other bridge, from the configuration or from the file with the section.
    ///   - path: The configuration.
    ///   - section: A YAML file with the members of the entity that differ (the plugin's section, attributes with
    ///     another `from`), and with `bridges:` for those that the configuration lacks; nil where the section can stay,
    ///     or one of the entity's `sources` has it.
    /// - Throws: ``BridgeSwapError``.
    public init(of entity: String, to bridge: String, in path: String, section: String? = nil) throws(BridgeSwapError) {
        self.entity = entity
        let main = try Self.read(path)
        let other = try section.map(Self.read)
        (self.file, self.section) = (main.file, other?.file)
        let (file, given) = (main.value, other?.value ?? .object([]))
        guard let old = file["entities"]?[entity] else {
            throw BridgeSwapError(message: "\(path) has no entity \"\(entity)\"")
        }
        guard let oldBridge = old["bridge"]?.string else {
            throw BridgeSwapError(
                message: "\(entity) has no bridge of its own", remedy: "swap the entity that it extends")
        }
        self.oldBridge = oldBridge
        let further = given["bridges"]?.members ?? []
        let bridges = (file["bridges"]?.members ?? []).filter { known in !further.contains { $0.key == known.key } }
        let all = bridges + further
        func plugin(_ name: String) throws(BridgeSwapError) -> String {
            guard let found = all.first(where: { $0.key == name })?.value else {
                throw BridgeSwapError(
                    message: "there is no bridge \"\(name)\"",
                    remedy:
                        "the bridges: \(all.map(\.key).joined(separator: ", ")); others can be declared under \"bridges:\" of "
                        + "the file of --section")
            }
            return found["plugin"]?.string ?? (found["isolation"]?.string == "external" ? "singer" : "")
        }
        let (before, after) = (try plugin(oldBridge), try plugin(bridge))
        // The file lists the entity's members under its name, or at the top level.
        let own = given["entities"]?[entity]?.members ?? (given.members ?? []).filter { $0.key != "bridges" }
        var new = (old.members ?? []).filter { !Self.asking.contains($0.key) && $0.key != before }
        if own.isEmpty, let source = old["sources"]?.members?.first(where: { $0.value["bridge"]?.string == bridge }) {
            Self.merge(source.value.members ?? [], into: &new)
        } else if own.isEmpty, before == after {
            new = old.members ?? []
        } else if !own.contains(where: { $0.key == after }) {
            throw BridgeSwapError(
                message: "nothing says how the bridge \"\(bridge)\" fetches \(entity)",
                remedy: "write the section \"\(after):\" of the entity into a file, and give it with --section FILE")
        }
        Self.merge(own, into: &new)
        new.removeAll { $0.key == "bridge" }
        new.insert(("bridge", .string(bridge)), at: 0)
        let entities = (file["entities"]?.members ?? []).map { $0.key == entity ? (entity, .object(new)) : $0 }
        configuration = .object(
            (file.members ?? []).map { member in
                switch member.key {
                case "entities": ("entities", .object(entities))
                case "bridges": ("bridges", .object(all))
                default: member
                }
            })
        var lines: [String] = []
        if !further.isEmpty {
            lines.append("bridges:")
            for (name, value) in further { lines += YAMLText.lines(name, value).map { "  " + $0 } }
        }
        lines += ["entities:", "  \(YAMLText.scalar(entity)):"]
        for (name, value) in new { lines += YAMLText.lines(name, value).map { "    " + $0 } }
        text = lines.joined(separator: "\n")
    }

    /// Replaces existing members; attributes and relationships are merged one by one.
    private static func merge(
        _ members: [(key: String, value: ConfigValue)], into target: inout [(key: String, value: ConfigValue)]
    ) {
        for (name, value) in members {
            guard let index = target.firstIndex(where: { $0.key == name }) else {
                target.append((name, value))
                continue
            }
            if ["attributes", "relationships"].contains(name), case .object(var inner) = target[index].value {
                // A list of names belongs to a source: those attributes use the entity's mapping.
                if let others = value.members { merge(others, into: &inner) }
                target[index].value = .object(inner)
            } else {
                target[index].value = value
            }
        }
    }

    private static func read(
        _ path: String
    ) throws(BridgeSwapError) -> (file: ConfigurationFile, value: ConfigValue) {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw BridgeSwapError(message: "\(path) cannot be read", remedy: "give the path of a YAML file")
        }
        let file = ConfigurationFile(text: text, path: path)
        if let fault = file.faults.first {
            throw BridgeSwapError(message: "\(fault.location): \(fault.message)", remedy: fault.remedy)
        }
        guard let value = file.value, value.members != nil else {
            throw BridgeSwapError(
                message: "\(path):1:1: the file is not a YAML mapping",
                remedy: "write members such as `rest: {path: /x}`")
        }
        return (file, value)
    }

    /// Returns the checked configuration with the other bridge.
    ///
    /// - Throws: `ConfigurationErrors`, each located in the file that states it: the configuration or the section's
    ///   file.
    public func workspace(
        host: BridgeHost, stores: any StoreProvider, environment: [String: String] = Workspace.environment
    ) async throws -> Workspace {
        let whole = ConfigurationFile(text: configuration.json, path: file.path)
        do {
            var workspace = try await Workspace.load(whole, host: host, stores: stores, environment: environment)
            workspace.file = file
            return workspace
        } catch var errors as ConfigurationErrors {
            for index in errors.diagnostics.indices {
                let place = whole.path(at: errors.diagnostics[index].location)
                errors.diagnostics[index].location = location(
                    of: place?.path ?? ["entities", entity], isName: place?.isName ?? true)
            }
            throw errors
        }
    }

    /// Locates a path of the merged configuration in one of the files; parts that neither file has are dropped.
    private func location(of path: [String], isName: Bool) -> SourceLocation {
        for length in stride(from: path.count, to: 1, by: -1) {
            let part = Array(path.prefix(length))
            let isName = isName || length < path.count
            if let section {
                // The file of the section may have the entity's members at its top level.
                let isOwn = part.starts(with: ["entities", entity]) && part.count > 2
                let short = isOwn ? section.exactLocation(of: Array(part.dropFirst(2)), isName: isName) : nil
                if let found = section.exactLocation(of: part, isName: isName) ?? short { return found }
            }
            if let found = file.exactLocation(of: part, isName: isName) { return found }
        }
        return SourceLocation(file: file.path, line: 0, column: 0)
    }
}

/// Why a bridge cannot be swapped for another.
public struct BridgeSwapError: Error, Sendable, CustomStringConvertible {
    /// The fault.
    public var message: String
    /// The remedy.
    public var remedy: String?

    /// Both on one line.
    public var description: String { remedy.map { "\(message); \($0)" } ?? message }
}
