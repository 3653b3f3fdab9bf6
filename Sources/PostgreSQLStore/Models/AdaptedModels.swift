internal import Mapping
internal import Model
internal import StoreContract
internal import TextFormats

/// The models that the tables were adapted to, each with the newest version of the tables that it was used with: table
/// `bmo_models`.
///
/// A model whose version has passed is an earlier one: the tables were changed since for another.
struct AdaptedModels {
    private let connection: Connection
    private let schema: String

    init(_ connection: Connection, schema: String) {
        self.connection = connection
        self.schema = schema
    }

    private var models: String { Identifier.quoted(schema) + ".bmo_models" }

    private var database: String { Identifier.quoted(schema) + ".bmo_database" }

    private static func fingerprint(of model: CompiledModel) -> String {
        var fingerprint = Fingerprint()
        for table in TableDefinition.all(of: model) {
            fingerprint.add(table.name)
            for column in table.columns { fingerprint.add(" \(column.name) \(column.attribute.rawValue)") }
            fingerprint.add(" (\(table.key.joined(separator: " ")))")
            for reference in table.references {
                fingerprint.add(" \(reference.columns.joined(separator: " ")) to \(reference.target)")
            }
            fingerprint.separate()
        }
        return String(fingerprint.value, radix: 16)
    }

    /// Notes that the tables fit a model as they are.
    func note(_ model: CompiledModel) throws {
        let fingerprint = Self.fingerprint(of: model)
        let isNoted = try connection.query(
            """
            SELECT EXISTS (SELECT 1 FROM \(models) m JOIN \(database) d ON m.schema_version = d.schema_version
                WHERE m.fingerprint = $1::text)
            """, [.text(fingerprint)], for: "reading the models of the tables"
        ).boolean(0, 0)
        guard !isNoted else { return }
        try connection.query(
            """
            INSERT INTO \(models) SELECT $1::text, schema_version, $2::text FROM \(database)
            ON CONFLICT (fingerprint) DO UPDATE SET schema_version = excluded.schema_version, noted = excluded.noted
            """, [.text(fingerprint), .text(Clock.now())], for: "noting the model of the tables")
    }

    /// Returns since when a later model has the tables; nil if the tables were not changed since they fitted this model, or
    /// never fitted it.
    func laterModel(than model: CompiledModel) throws -> String? {
        let found = try connection.query(
            """
            SELECT (SELECT max(l.noted) FROM \(models) l WHERE l.schema_version > m.schema_version)
            FROM \(models) m JOIN \(database) d ON m.schema_version < d.schema_version WHERE m.fingerprint = $1::text
            """, [.text(Self.fingerprint(of: model))], for: "reading the models of the tables")
        return found.count > 0 ? found.text(0, 0) : nil
    }
}
