import Foundation

/// The bytes of a database's files: what a write would change.
struct FileBytes: Equatable {
    let main: Data
    /// The write-ahead log; nil when it is not there or empty.
    let log: Data?

    init(_ path: String) throws {
        main = try Data(contentsOf: URL(filePath: path))
        let log = try? Data(contentsOf: URL(filePath: path + "-wal"))
        self.log = log?.isEmpty == false ? log : nil
    }
}
