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
    /// Whether the statement failed in a function that it called, such as that of a trigger.
    var isInFunction = false

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

    /// Whether libpq does not know the value of an option.
    private var isInvalidOption: Bool {
        action == "connecting" && (message.hasPrefix("invalid ") || message.contains(" connection option "))
    }

    /// Whether each server was reached and is not what the option `target_session_attrs` asks for.
    private var isOtherServer: Bool {
        let words = ["session is read-only", "session is not read-only", "hot standby mode"]
        return action == "connecting" && words.contains { message.contains($0) }
    }

    /// Whether rows or links could not be deleted, or the transaction that did so could not be committed.
    private var isDeletion: Bool { action.hasPrefix("deleting ") || action.hasPrefix("committing") }

    /// Whether something that uses a column or table, and that bmo did not make, is in the way of a change.
    private var isInTheWay: Bool {
        switch state {
        case "42804", "42883": action.hasPrefix("converting ")
        case "0A000": message.hasPrefix("cannot alter type of a column used ")
        default: state == "2BP01"
        }
    }

    /// The meaning of a SQLSTATE; see "PostgreSQL Error Codes" in its documentation.
    private var meaning: (StoreError.Code, String?) {
        switch state {
        case "" where isInvalidOption:
            return (.open, "correct the option in the database address, in libpq's variables or its service file")
        case "" where isOtherServer:
            return (
                .open,
                "no server of the address is what target_session_attrs asks for: take that option out, or name "
                    + "another server"
            )
        case "": return (.io, "check that the server is running and reachable; the next sync continues")
        case "42883" where isInFunction, "42P01" where isInFunction, "42704" where isInFunction:
            return (
                .schema,
                "a function of a trigger or constraint of yours needs a search_path of its own: "
                    + "ALTER FUNCTION NAME SET search_path = public"
            )
        case _ where isInTheWay:
            return (
                .schema,
                "a view, default, check, index, reference or generated column of yours is in the way: drop it, run the "
                    + "command again, and create it again after that"
            )
        case "42P07":
            return (.schema, "rename what has this name, or add schema=NAME to the address")
        case "57014" where !message.contains("timeout"):
            return (.io, "another session has cancelled the statement; run the command again")
        case "57014":
            return (.io, "raise statement_timeout of the role or database: ALTER ROLE NAME SET statement_timeout = 0")
        case "25006":
            return (
                .open,
                "connect to the primary (target_session_attrs=read-write), and see that the role may write: "
                    + "ALTER ROLE NAME SET default_transaction_read_only = off"
            )
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
        case "P0001" where isDeletion, "23503" where isDeletion:
            return (
                .constraint,
                "drop the trigger or foreign key that bmo did not create, or give the key ON DELETE CASCADE or SET NULL"
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
