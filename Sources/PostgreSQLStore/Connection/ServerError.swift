internal import CPQ
internal import StoreContract

/// An error that the server or libpq reported, before it gets the words of a ``StoreError``.
struct ServerError: Error, CustomStringConvertible {
    /// The SQLSTATE, five characters; empty if the connection failed.
    let state: String
    /// The primary message, in the server's words, without values of connection options.
    let message: String
    /// What the statement did, such as "reading rows".
    let action: String
    /// Whether the connection is lost.
    let isDisconnected: Bool
    /// Whether the engine may commit the same transaction the next time.
    let isRetried: Bool

    var description: String { "\(action): \(message)" + (state.isEmpty ? "" : " (SQLSTATE \(state))") }

    /// Returns the error for a user, with the database's place.
    func storeError(_ place: String) -> StoreError {
        let (code, remedy) = meaning
        return StoreError(code, "\(place): \(self)", remedy: remedy, isTransient: isTransient)
    }

    /// Whether the server has rolled the transaction back for a reason that may be gone the next time: a serialization
    /// failure, a deadlock, or the end of the connection, in which the server rolls back.
    ///
    /// Whether a COMMIT whose connection ended took effect is found out by `PostgreSQLStore.commit`.
    private var isTransient: Bool { isDisconnected ? action != "connecting" || state == "57P03" : isRetried }

    /// The meaning of a SQLSTATE; see "PostgreSQL Error Codes" in its documentation.
    private var meaning: (StoreError.Code, String?) {
        switch state {
        case "": return (.io, "check that the server is running and reachable; the next sync continues")
        case "28P01", "28000": return (.open, "check the user and the password: {env:NAME}, {file:PATH} or ~/.pgpass")
        case "3D000": return (.open, "create the database: createdb NAME")
        case "42501":
            return (.open, "ask an administrator to grant the role CREATE on the database, or access to the schema")
        case "53300": return (.busy, "raise max_connections or try again later")
        case "55P03": return (.busy, "another process is writing; try again when it has ended")
        case "40001", "40P01":
            return (.busy, "another program keeps changing the same rows; run the command again")
        case "26000", "42P05":
            return (
                .open,
                "if a pooler gives each transaction another session, connect to the server itself, or set "
                    + "pool_mode = session in the pooler"
            )
        case "23505":
            return (
                .constraint,
                "the table has another row with this value: one that a policy hides from bmo, or that another program "
                    + "has just inserted"
            )
        case "53100": return (.io, "the server's disk is full; free some space and run the command again")
        case "42P01", "42703", "42804", "3F000":
            return (.schema, "another program changed the tables; `bmo migrate` shows what is missing")
        default: break
        }
        switch state.prefix(2) {
        case "08", "57": return (.io, "check that the server is running; the next sync continues")
        case "23", "22", "54": return (.constraint, "the server rejected a value; its log has the statement")
        case "53", "58", "XX": return (.io, "see the server's log for details")
        default: return (.internal, nil)
        }
    }
}
