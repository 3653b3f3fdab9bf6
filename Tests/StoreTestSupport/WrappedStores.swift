package import Mapping
package import StoreContract

/// The stores of another provider, which are opened in another way.
package struct WrappedStores: StoreProvider {
    private let base: any StoreProvider
    private let opening: @Sendable (String, CompiledModel, StoreUse) throws -> any Store

    /// - Parameter opening: Opens a database, for example as a subclass of ``ForwardingStore``.
    package init(
        _ base: any StoreProvider, opening: @escaping @Sendable (String, CompiledModel, StoreUse) throws -> any Store
    ) {
        self.base = base
        self.opening = opening
    }

    package func open(_ location: String, model: CompiledModel, for use: StoreUse) throws -> any Store {
        try opening(location, model, use)
    }

    package func exists(_ location: String) -> Bool { base.exists(location) }
    package func attemptLock(_ location: String, for purpose: LockPurpose, command: String) throws -> LockAttempt {
        try base.attemptLock(location, for: purpose, command: command)
    }
    package func lockHolder(of location: String, for purpose: LockPurpose) -> LockHolder? {
        base.lockHolder(of: location, for: purpose)
    }
    package func schema(of model: CompiledModel) -> [String] { base.schema(of: model) }
    package func migrationPlan(of location: String, to model: CompiledModel) throws -> SchemaPlan {
        try base.migrationPlan(of: location, to: model)
    }
    package func migrate(_ location: String, to model: CompiledModel, backup: String) throws -> MigrationResult {
        try base.migrate(location, to: model, backup: backup)
    }
    package func contents(of location: String) throws -> [TableContents] { try base.contents(of: location) }
}
