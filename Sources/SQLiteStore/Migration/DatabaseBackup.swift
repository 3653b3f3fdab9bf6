internal import GRDB
internal import StoreContract

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The copy of a database file that a migration makes first.
///
/// It has another name until it is complete: what a kill leaves of it could be mistaken for the database, since SQLite
/// opens it as an empty one.
struct DatabaseBackup {
    /// The database file, whose lock the caller holds.
    let path: String
    /// The copy's name.
    let backup: String

    private var part: String { path + "-before-part" }

    /// Makes the copy; a user who may not read the file cannot read the copy at any time either.
    func make(from db: Database) throws {
        guard access(backup, F_OK) != 0 else {
            throw StoreError(.io, "there is a file \(backup) already", remedy: "move it away")
        }
        discard()
        try create()
        do {
            // SQLite accepts an existing file if it is empty.
            try db.execute(sql: "VACUUM INTO ?", arguments: [part])
        } catch {
            discard()
            throw error
        }
        guard rename(part, backup) == 0 else {
            let error = failure()
            discard()
            throw error
        }
    }

    /// Removes an incomplete copy, also one that a killed process left.
    private func discard() {
        unlink(part)
        unlink(part + "-journal")
    }

    private func create() throws {
        var status = stat()
        let mode = stat(path, &status) == 0 ? status.st_mode & 0o777 : 0o600
        let descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure() }
        // As root, gives the copy the file's owner; a failure is not a reason to stop.
        _ = fchown(descriptor, status.st_uid, status.st_gid)
        _ = fchmod(descriptor, mode)
        close(descriptor)
    }

    private func failure() -> StoreError {
        StoreError(
            .io, "the copy \(backup) cannot be created: \(String(cString: strerror(errno)))",
            remedy: "check the folder and its permissions")
    }
}
