internal import BridgeHost
internal import RecordBatch

extension PluginListing {
    /// Whether a section of the plugin names the operations that it has under `write`, as its schema tells.
    ///
    /// Where it does, what is not named there cannot be done.
    var namesWrites: Bool {
        guard let schema = try? JSONParser.batch(entitySchema) else { return false }
        return withExtendedLifetime(schema) {
            guard let write = schema[0]["properties"]?["write"]?["properties"] else { return false }
            return ["create", "update", "delete"].contains { write[$0] != nil }
        }
    }
}
