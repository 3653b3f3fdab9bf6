internal import GRDB
internal import StoreContract

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

extension SQLiteStore {
    /// The longest of the endings of the files beside a database that most commands need.
    private static let longestEnding = "-push-lock"

    /// Returns what is wrong with the file at `path`, which need not exist, apart from its tables; reads all of it.
    ///
    /// - Throws: `StoreError` if it cannot be read.
    static func faults(path: String) throws -> [StoreError] {
        guard access(path, F_OK) == 0 else { return fault(ofMissing: path).map { [$0] } ?? [] }
        var faults: [StoreError] = []
        do {
            try naming(path) { try FileNames.refuseSeveral(of: path) }
        } catch let error as StoreError {
            faults.append(error)
        }
        let found = try naming(path) {
            try translating("examining it") {
                let queue = try ReadingConnection.open(path)
                defer { try? queue.close() }
                return try queue.read { db in try String.fetchAll(db, sql: "PRAGMA quick_check(1)") }
            }
        }
        if let damage = found.first, damage != "ok" {
            let words = damage.split(whereSeparator: \.isNewline).joined(separator: "; ")
            faults.append(
                StoreError(
                    .open, "\(path): the file is damaged: \(words)",
                    remedy: SchemaUpdate.lossRemedy))
        }
        return faults
    }

    /// Returns why a file cannot be created; nil if its path does not speak against it.
    private static func fault(ofMissing path: String) -> StoreError? {
        guard access(path + longestEnding, F_OK) != 0, errno != ENOENT else { return nil }
        return StoreError(
            .open, "\(path) cannot be created: \(String(cString: strerror(errno)))",
            remedy: "name another file under `database:`")
    }
}
