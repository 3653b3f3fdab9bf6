internal import BMO
internal import BridgeHost
internal import Model
internal import RecordBatch

/// A bridge that an entity uses, with its plugin.
struct UsedBridge {
    /// The name of the additional source; nil for the entity's own bridge.
    let source: String?
    let bridge: String
    let plugin: String
    let version: String

    /// Returns the bridges of an entity, its own first.
    static func all(of entity: String, in workspace: Workspace) -> [UsedBridge] {
        guard let entity = workspace.configuration.model.entities.first(where: { $0.name == entity }) else { return [] }
        let names = [(String?.none, entity.bridge)] + entity.sources.map { (Optional($0.name), $0.bridge) }
        // An entity that only occurs nested has no bridge.
        return names.filter { !$0.1.isEmpty }.map { source, name in
            let plugin = workspace.configuration.bridge(named: name)?.plugin ?? ""
            return UsedBridge(
                source: source, bridge: name, plugin: plugin, version: workspace.plugins[plugin]?.version ?? "")
        }
    }

    /// The bridge with its plugin's version: `crm (rest 0.1.0)`.
    var text: String { "\(bridge) (\(plugin) \(version))" }

    func write(to writer: RecordBatchWriter) {
        writer.object {
            writer.member("source", source)
            writer.member("bridge", bridge)
            writer.member("plugin", plugin)
            writer.member("version", version)
        }
    }
}
