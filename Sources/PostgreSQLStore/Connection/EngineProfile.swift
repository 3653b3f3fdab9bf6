internal import StoreContract

/// What a server can do, as far as the store depends on it.
///
/// The server is asked when a connection is made (``init(detectedBy:)``), unless the address names an engine. The store
/// uses neither temporary tables nor COPY, MERGE, LISTEN or SKIP LOCKED, so no profile has a word about these.
struct EngineProfile: Sendable, Equatable {
    /// The engines, as the option `engine` of an address has them.
    enum Name: String, CaseIterable, Sendable {
        case postgresql
        /// Citus with the schema on one node.
        case citusSchema = "citus-schema"
        /// Citus with the rows of each entity spread over the nodes.
        case citusDistributed = "citus-distributed"
        case cockroachdb, yugabytedb
    }

    /// How a reference to another table is kept.
    enum ForeignKeys: Sendable {
        /// By a foreign key that the server checks when the transaction is committed.
        case deferred
        /// By a foreign key that the server checks at the end of each statement.
        case immediate
        /// By bmo alone.
        case none
    }

    /// How long a lock that is a row is held without a renewal.
    static let lease = Duration.seconds(30)

    let name: Name
    var foreignKeys = ForeignKeys.deferred
    /// Whether `LOCK TABLE` and advisory locks keep others out; where they do not, rows of `bmo_locks` do.
    var hasLocks = true
    /// Whether the server can be asked whether a transaction of a lost connection was committed; otherwise a row of
    /// `bmo_outcomes` says so.
    var hasTransactionStatus = true
    /// Whether the column `xmin` of a row has the number of the transaction that wrote it.
    var hasWriters = true
    /// Whether tables are changed in a transaction that can be rolled back.
    var hasTransactionalDDL = true
    /// Whether a column can have the collation C; text is in the order of its bytes in any case.
    var hasCollations = true
    /// Whether a unique constraint can be on other columns than the key's.
    var hasOtherUniqueColumns = true
    /// The words of BEGIN for one consistent view of the data.
    var isolation = "ISOLATION LEVEL REPEATABLE READ"
    /// The most bytes of a statement with its parameters.
    var longestStatement = 1 << 29
    /// Whether the server has the extension of Citus, which then gets the tables to distribute.
    var hasCitus = false
    /// The SQLSTATEs of a transaction that may succeed the next time.
    var transientStates: Set<String> = ["40001", "40P01"]
    /// The SQLSTATEs of a COMMIT that may have taken effect.
    var unknownStates: Set<String> = []

    init(_ name: Name) {
        self.name = name
        switch name {
        case .postgresql: break
        // The coordinator's number of a transaction is not that of the node with the rows.
        case .citusSchema: (hasTransactionStatus, hasWriters) = (false, false)
        case .citusDistributed:
            (hasTransactionStatus, hasWriters) = (false, false)
            foreignKeys = .none
            hasOtherUniqueColumns = false
        case .cockroachdb:
            foreignKeys = .immediate
            (hasLocks, hasTransactionStatus, hasTransactionalDDL, hasCollations) = (false, false, false, false)
            hasWriters = false
            isolation = "ISOLATION LEVEL SERIALIZABLE"
            longestStatement = 8 << 20
            unknownStates = ["40003"]
        case .yugabytedb:
            (hasLocks, hasTransactionStatus, hasTransactionalDDL, hasWriters) = (false, false, false, false)
            longestStatement = 64 << 20
        }
    }

    /// The statement to begin a transaction that changes tables.
    ///
    /// Citus refuses a change of a table whose rows the same transaction has changed on several connections at once; see
    /// `citus.multi_shard_modify_mode` in its documentation.
    var tableChange: String {
        "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '30s'"
            + (hasCitus ? "; SET LOCAL citus.multi_shard_modify_mode = 'sequential'" : "")
    }

    /// What the tables lack on this engine, in words; empty if they lack nothing.
    var notes: [String] {
        var notes: [String] = []
        switch foreignKeys {
        case .deferred: break
        case .immediate: notes.append("foreign keys are checked after each statement")
        case .none: notes.append("relationships have no foreign keys: only bmo keeps them right")
        }
        if !hasLocks { notes.append("a sync holds a lease of \(Self.lease) in place of a lock") }
        if !hasTransactionalDDL {
            notes.append("bmo adds tables and columns one by one, and `bmo migrate` is refused")
        }
        return notes
    }
}
