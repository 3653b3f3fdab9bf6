public import BridgeHost
public import Foundation
internal import Model

/// A configuration in which one entity comes through another bridge: for a look at what that would change.
///
/// ```swift
/// let swap = try BridgeSwap(of: "User", to: "crm2", in: "bmo.yml", section: "crm2.yml")
/// let workspace = try await swap.workspace(host: host)
/// ```
public struct BridgeSwap: Sendable {
    /// The entity as it would stand in the file, with the bridges that the file does not have: YAML.
    public let text: String
    /// The bridge that the entity has now.
    public let oldBridge: String
    private let path: String
    private let configuration: ConfigValue

    /// Keys of an entity that say how its bridge is asked, not what the entity is.
    private static let asking: Set<String> = ["bridge", "incremental", "full_every", "parent"]

    /// Puts the parts together; nothing is connected.
    ///
    /// - Parameters:
    ///   - entity: The entity's name.
    ///   - bridge: The other bridge: of the configuration, or of the file with the section.
    ///   - path: The configuration.
    ///   - section: A YAML file with the members of the entity that are other ones (the plugin's section, attributes whose
    ///     `from` is another), and with `bridges:` for those that the configuration lacks; nil where the section can stay, or
    ///     one of the entity's `sources` has it.
    /// - Throws: ``BridgeSwapError``.
    public init(of entity: String, to bridge: String, in path: String, section: String? = nil) throws(BridgeSwapError) {
        self.path = path
        let file = try Self.read(path)
        let given = try section.map(Self.read) ?? .object([])
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
                        "the bridges: \(all.map(\.key).joined(separator: ", ")); others can stand under \"bridges:\" of "
                        + "the file of --section")
            }
            return found["plugin"]?.string ?? (found["isolation"]?.string == "external" ? "singer" : "")
        }
        let (before, after) = (try plugin(oldBridge), try plugin(bridge))
        // What the file says of the entity: by its name, or as the whole file.
        let own = given["entities"]?[entity]?.members ?? (given.members ?? []).filter { $0.key != "bridges" }
        var new = (old.members ?? []).filter { !Self.asking.contains($0.key) && $0.key != before }
        if own.isEmpty, let source = old["sources"]?.members?.first(where: { $0.value["bridge"]?.string == bridge }) {
            Self.merge(source.value.members ?? [], into: &new)
        } else if own.isEmpty, before == after {
            new = old.members ?? []
        } else if !own.contains(where: { $0.key == after }) {
            throw BridgeSwapError(
                message: "nothing tells how the bridge \"\(bridge)\" is asked for \(entity)",
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

    /// Members over those that are there; attributes and relationships one by one.
    private static func merge(
        _ members: [(key: String, value: ConfigValue)], into target: inout [(key: String, value: ConfigValue)]
    ) {
        for (name, value) in members {
            guard let index = target.firstIndex(where: { $0.key == name }) else {
                target.append((name, value))
                continue
            }
            if ["attributes", "relationships"].contains(name), case .object(var inner) = target[index].value {
                // A list of names is of a source: those have the entity's mapping.
                if let others = value.members { merge(others, into: &inner) }
                target[index].value = .object(inner)
            } else {
                target[index].value = value
            }
        }
    }

    private static func read(_ path: String) throws(BridgeSwapError) -> ConfigValue {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw BridgeSwapError(message: "\(path) cannot be read", remedy: "give the path of a YAML file")
        }
        guard let value = ConfigurationFile.value(ofYAML: text), value.members != nil else {
            throw BridgeSwapError(message: "\(path) is no YAML mapping", remedy: "`bmo check -f FILE` tells where")
        }
        return value
    }

    /// The checked configuration with the other bridge.
    ///
    /// - Throws: `ConfigurationErrors`, whose places are those of no file.
    public func workspace(
        host: BridgeHost, environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws -> Workspace {
        try await Workspace.load(text: configuration.json, path: path, host: host, environment: environment)
    }
}

/// Why a bridge cannot be swapped for another.
public struct BridgeSwapError: Error, Sendable, CustomStringConvertible {
    /// What is wrong.
    public var message: String
    /// What can be done.
    public var remedy: String?

    /// Both on one line.
    public var description: String { remedy.map { "\(message); \($0)" } ?? message }
}
