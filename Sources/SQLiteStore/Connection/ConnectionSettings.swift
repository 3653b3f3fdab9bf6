/// The settings that all connections to a file share.
enum ConnectionSettings {
    /// The statement that sets a page cache of 12 MiB instead of SQLite's 2, for connections that read much.
    ///
    /// Look-ups out of table order then find their pages in memory, and a sync stays far below its budget of 64 MiB,
    /// whatever the number of rows.
    static let pageCache = "PRAGMA cache_size = -12288"

    /// The time limit for a file that another program has locked, in seconds, for every kind of access.
    static let lockTimeout = 30.0
}
