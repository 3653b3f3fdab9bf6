internal import Foundation
internal import Model
internal import StoreContract

/// The findings of `bmo doctor` about the machine: clock, disk and permissions.
enum MachineCheck {
    /// The free space below which the disk is a warning, in bytes.
    private static let scarce = 100 << 20

    // MARK: Clock

    /// Compares the clock with the program's build, which was before now.
    ///
    /// A wrong clock makes valid certificates invalid, and tokens too old or not valid yet.
    static func clockAfterBuild() -> Finding {
        let now = Clock.now()
        guard let built = BuildRecord.own?.date, now < built else { return .ok("clock", "it is \(now)") }
        return .error(
            "clock", "it is \(now) here, before this program was built (\(built))", remedy: clockRemedy)
    }

    /// Compares the clock with the last run in the database; returns nothing if they agree.
    ///
    /// - Parameter time: When the run began, as ISO 8601.
    static func clock(after time: String) -> [Finding] {
        guard Clock.now() < time else { return [] }
        return [
            .warning("clock", "the last run in the database began in the future, at \(time)", remedy: clockRemedy)
        ]
    }

    private static let clockRemedy = "set the clock, for example with `timedatectl set-ntp true`"

    // MARK: Disk

    /// Examines the free space where the database is.
    static func disk(_ database: String) -> Finding {
        let folder = folder(of: database)
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else {
            return .error(
                "disk", "\(folder): \(String(cString: strerror(errno)))",
                remedy: "create the folder, or change `database` in the configuration")
        }
        let free = Int(
            clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
        var file = stat()
        let size = stat(database, &file) == 0 ? Int(file.st_size) : 0
        let text = "\(megabytes(free)) free in \(folder)"
        if status.f_files > 0, status.f_favail == 0 {
            return .error("disk", "\(folder) has no free inode", remedy: "delete files that are not needed")
        }
        if free < size {
            return .warning(
                "disk", "\(text); the database has \(megabytes(size)), and `bmo migrate` copies it first",
                remedy: "make room before a migration")
        }
        guard free < scarce else { return .ok("disk", text) }
        return .warning("disk", text, remedy: "make room: a sync that fills the disk fails")
    }

    private static func megabytes(_ bytes: Int) -> String { "\(bytes / 1_000_000) MB" }

    // MARK: Permissions

    /// Examines who may write the database, and who may read the files of secrets.
    static func permissions(_ configuration: Configuration) -> [Finding] {
        var findings: [Finding] = []
        let database = configuration.databasePath
        // SQLite creates its journal beside the database.
        let written = DatabaseURI.isURI(database) ? [] : [folder(of: database), database]
        for path in written where access(path, F_OK) == 0 && access(path, W_OK) != 0 {
            findings.append(
                .error(
                    "permissions", "\(path) cannot be written by this user (\(geteuid()))",
                    remedy: "change its owner or mode, or run bmo as its owner"))
        }
        for path in configuration.secretFiles.sorted() {
            var status = stat()
            guard stat(path, &status) == 0 else {
                findings.append(
                    .error(
                        "permissions", "the secret's file \(path): \(String(cString: strerror(errno)))",
                        remedy: "create the file, or change the configuration"))
                continue
            }
            guard status.st_mode & S_IROTH != 0 else { continue }
            findings.append(
                .warning(
                    "permissions", "every user of this machine may read the secret in \(path)",
                    remedy: "chmod 600 '\(path)'"))
        }
        guard findings.isEmpty else { return findings }
        let folder = written.first.map { "\($0) can be written; " } ?? ""
        return [.ok("permissions", "\(folder)files of secrets are private")]
    }

    /// Examines the folder for temporary files, where bridge processes have their HOME.
    static func temporaryFolder() -> Finding {
        let folder = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        guard access(folder, W_OK | X_OK) == 0 else {
            return .error(
                "temporary files", "\(folder): \(String(cString: strerror(errno)))",
                remedy: "set TMPDIR to a folder that this user can write")
        }
        return .ok("temporary files", "\(folder) can be written")
    }

    private static func folder(of path: String) -> String {
        URL(fileURLWithPath: path).deletingLastPathComponent().path
    }
}
