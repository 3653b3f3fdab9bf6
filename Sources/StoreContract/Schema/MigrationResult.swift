/// The result of a migration.
public struct MigrationResult: Sendable, Equatable {
    /// The changes that were needed.
    public var plan: SchemaPlan
    /// The path of the backup; nil if there was nothing to change.
    public var backup: String?
    /// The rows and values that could not be kept, in words.
    public var notes: [String]

    /// Creates a result.
    package init(plan: SchemaPlan, backup: String? = nil, notes: [String]) {
        self.plan = plan
        self.backup = backup
        self.notes = notes
    }
}
