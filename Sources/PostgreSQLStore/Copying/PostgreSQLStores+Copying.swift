public import Mapping
public import StoreContract

extension PostgreSQLStores {
    /// Reads the whole content of a schema, whose tables must fit the model, from one snapshot.
    public func readContent(
        of location: String, model: CompiledModel, _ body: (any ContentReader) throws -> Void
    ) throws {
        try open(location, model: model, for: .reading(entities: nil)).close()
        let connection = try Connection(DatabaseLocation(location))
        try connection.run("BEGIN \(connection.engine.isolation), READ ONLY")
        try body(PostgreSQLContent(connection, DatabaseSQL(model, for: connection)))
        try connection.run("COMMIT")
    }

    /// Writes a schema, which must not have rows; one that is missing is created, in the same transaction.
    public func writeContent(
        to location: String, model: CompiledModel, _ body: (any ContentWriter) throws -> Void
    ) throws {
        let connection = try Connection(DatabaseLocation(location))
        let sql = DatabaseSQL(model, for: connection)
        try Self.checkTransactionalDDL(connection)
        try connection.run(connection.engine.tableChange)
        do {
            try Self.adapt(connection, in: sql)
            let content = PostgreSQLContent(connection, sql)
            guard try content.isEmpty() else {
                throw StoreError.notEmpty(
                    connection.place, remedy: "add schema=NAME to the address, or drop the schema")
            }
            try connection.run("SET CONSTRAINTS ALL DEFERRED", for: "deferring the foreign keys")
            try body(content)
            try connection.run("COMMIT", for: "committing the copy")
        } catch {
            if connection.isAlive { try? connection.run("ROLLBACK") }
            throw error
        }
    }
}
