/// The limits on one call of a source.
enum FilePaging {
    /// The size of the result, in bytes.
    static let batchBytes = 1 << 20
    /// The number of folders listed in one call: a scan without matches must also show progress.
    static let folders = 200
    /// The number of attempts to read a file that changes.
    static let attempts = 3
}
