internal import Mapping
internal import Model
internal import StoreRules

/// The statements of one link table.
struct LinkTableSQL {
    let source: EntityLayout
    let target: EntityLayout
    /// The quoted name with the schema.
    let name: String
    let sourceColumns: [String]
    let targetColumns: [String]
    let sourceCodecs: [ValueCodec]
    let targetCodecs: [ValueCodec]
    let selectBySource: String
    let selectByTarget: String
    let upsert: String
    let delete: String

    init(_ table: String, _ model: CompiledModel, from source: EntityLayout, to target: EntityLayout, schema: String) {
        self.source = source
        self.target = target
        name = Identifier.quoted(schema) + "." + Identifier.quoted(table)
        let columns = Self.columns(of: table, source, target, in: model)
        let sources = columns.source.map(Identifier.quoted)
        let targets = columns.target.map(Identifier.quoted)
        (sourceColumns, targetColumns) = (sources, targets)
        sourceCodecs = source.key.map { ValueCodec(source.fields[$0].type, isIdentity: true) }
        targetCodecs = target.key.map { ValueCodec(target.fields[$0].type, isIdentity: true) }
        let read =
            zip(sources + targets, sourceCodecs + targetCodecs).map { $1.sqlType.read("t.\($0)") }
            .joined(separator: ", ")
        let select = "SELECT t.position, \(read) FROM \(name) t"
        selectBySource = RowTableSQL.join(select, sources, sourceCodecs)
        selectByTarget = RowTableSQL.join(select, targets, targetCodecs)
        let types = sourceCodecs.map(\.sqlType) + [.bigint] + targetCodecs.map(\.sqlType)
        let arrays = types.enumerated().map { $1.arrayParameter($0 + 1) }.joined(separator: ", ")
        upsert =
            "INSERT INTO \(name) (\((sources + ["position"] + targets).joined(separator: ", "))) "
            + "SELECT * FROM unnest(\(arrays)) ON CONFLICT (\((sources + ["position"]).joined(separator: ", "))) "
            + "DO UPDATE SET " + targets.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        let places = sources + ["position"]
        let keyTypes = sourceCodecs.map(\.sqlType) + [.bigint]
        let unnested = keyTypes.enumerated().map { $1.arrayParameter($0 + 1) }.joined(separator: ", ")
        let names = places.indices.map { "k\($0)" }
        delete =
            "DELETE FROM \(name) t USING unnest(\(unnested)) AS u(\(names.joined(separator: ", "))) WHERE "
            + zip(places, names).map { "t.\($0) = u.\($1)" }.joined(separator: " AND ")
    }

    /// The names of the columns at both ends.
    static func columns(
        of table: String, _ source: EntityLayout, _ target: EntityLayout, in model: CompiledModel
    ) -> (source: [String], target: [String]) {
        let ends = model.linkEnds(of: table)
        func columns(_ end: String, _ layout: EntityLayout) -> [String] {
            layout.key.count == 1 ? [end] : layout.key.map { "\(end)_\(layout.fields[$0].name)" }
        }
        return (columns(ends.source, source), columns(ends.target, target))
    }
}
