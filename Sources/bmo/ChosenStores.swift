internal import Mapping
internal import PostgreSQLStore
internal import SQLiteStore
internal import StoreContract

/// The kinds of database that the command knows: a location is a PostgreSQL database's URI, or else the path of an SQLite
/// file.
struct ChosenStores: StoreProvider {
    private let files = SQLiteStores()
    private let servers = PostgreSQLStores()

    private func stores(_ location: String) -> any StoreProvider {
        PostgreSQLStores.isLocation(location) ? servers : files
    }

    func open(_ location: String, model: CompiledModel, for use: StoreUse) throws -> any Store {
        try stores(location).open(location, model: model, for: use)
    }

    func exists(_ location: String) -> Bool { stores(location).exists(location) }

    func attemptLock(_ location: String, for purpose: LockPurpose, command: String) throws -> LockAttempt {
        try stores(location).attemptLock(location, for: purpose, command: command)
    }

    func attemptSharedLock(_ location: String, command: String) throws -> LockAttempt {
        try stores(location).attemptSharedLock(location, command: command)
    }

    func lockAttempts(
        _ location: String, for purpose: LockPurpose, isShared: Bool, command: String
    ) -> @Sendable () throws -> LockAttempt {
        stores(location).lockAttempts(location, for: purpose, isShared: isShared, command: command)
    }

    func checkIsNewest(_ model: CompiledModel, of location: String) throws {
        try stores(location).checkIsNewest(model, of: location)
    }

    func lockHolder(of location: String, for purpose: LockPurpose) -> LockHolder? {
        stores(location).lockHolder(of: location, for: purpose)
    }

    func lockText(_ location: String, name: String) throws -> (any StoredTextLock)? {
        try stores(location).lockText(location, name: name)
    }

    func mostColumns(of location: String) -> Int? { stores(location).mostColumns(of: location) }

    func mostKeyAttributes(of location: String) -> Int? { stores(location).mostKeyAttributes(of: location) }

    /// The tables of an SQLite file: a model alone does not say where its rows are.
    func schema(of model: CompiledModel) -> [String] { files.schema(of: model) }

    func migrationPlan(of location: String, to model: CompiledModel) throws -> SchemaPlan {
        try stores(location).migrationPlan(of: location, to: model)
    }

    func schemaPlan(of location: String, to model: CompiledModel) throws -> SchemaPlan {
        try stores(location).schemaPlan(of: location, to: model)
    }

    func migrate(_ location: String, to model: CompiledModel, backup: String) throws -> MigrationResult {
        try stores(location).migrate(location, to: model, backup: backup)
    }

    func faults(of location: String) throws -> [StoreError] { try stores(location).faults(of: location) }

    func contents(of location: String) throws -> [TableContents] { try stores(location).contents(of: location) }

    func readContent(of location: String, model: CompiledModel, _ body: (any ContentReader) throws -> Void) throws {
        try stores(location).readContent(of: location, model: model, body)
    }

    func writeContent(to location: String, model: CompiledModel, _ body: (any ContentWriter) throws -> Void) throws {
        try stores(location).writeContent(to: location, model: model, body)
    }
}
