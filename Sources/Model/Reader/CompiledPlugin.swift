/// A plugin's schemas, compiled once, or the reason why they cannot be compiled.
struct CompiledPlugin: Sendable {
    var name: String
    var options: Result<SchemaDocument, SchemaFault>
    var entity: Result<SchemaDocument, SchemaFault>

    init(_ schema: PluginSchema) {
        name = schema.name
        options = Self.compile(schema.optionsSchema)
        entity = Self.compile(schema.entitySchema)
    }

    private static func compile(_ text: String) -> Result<SchemaDocument, SchemaFault> {
        do throws(SchemaFault) {
            return .success(try SchemaDocument(text: text))
        } catch {
            return .failure(error)
        }
    }
}
