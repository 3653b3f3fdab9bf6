internal import StoreContract
internal import Mapping

/// Prepared statements by SQL, created on first use, for work that is not done for every row of an import.
final class StatementCache {
    let connection: OpaquePointer?
    private var statements: [String: RawStatement] = [:]

    init(on connection: OpaquePointer?) { self.connection = connection }

    func callAsFunction(_ sql: String) -> RawStatement {
        if let known = statements[sql] { return known }
        let statement = RawStatement(sql, on: connection)
        if statements.count >= 512 { statements = [:] }
        statements[sql] = statement
        return statement
    }

    /// Runs a statement that returns no rows; returns the number of rows changed.
    @discardableResult
    func run(_ sql: String, _ values: [StoredValue] = []) throws -> Int {
        let statement = self(sql)
        for (index, value) in values.enumerated() { statement.bind(value, at: Int32(index + 1)) }
        return try statement.run()
    }

    /// Returns the first column of the first row.
    func value(_ sql: String, _ values: [StoredValue] = []) throws -> StoredValue? {
        let statement = self(sql)
        for (index, value) in values.enumerated() { statement.bind(value, at: Int32(index + 1)) }
        defer { statement.reset() }
        return try statement.step() ? statement.value(0) : nil
    }
}

extension JSONText {
    /// Returns a key as a value to bind.
    static func keyValue(_ parts: [StoredValue]) -> StoredValue { .text(JSONText.key(parts).string) }
}
