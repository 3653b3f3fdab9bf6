internal import BridgeHost
internal import RecordBatch

extension PluginListing {
    /// Whether the plugin's schema has a `write` member in sections, which names the supported operations.
    ///
    /// Where it does, operations that are not named there are unsupported.
    var namesWrites: Bool {
        guard let schema = try? JSONParser.batch(entitySchema) else { return false }
        return withExtendedLifetime(schema) {
            guard let write = schema[0]["properties"]?["write"]?["properties"] else { return false }
            return ["create", "update", "delete"].contains { write[$0] != nil }
        }
    }
}
