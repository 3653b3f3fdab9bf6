/// A store whose database may lack what others have, such as foreign keys; `bmo doctor` and `bmo check --remote` say so.
///
/// ```swift
/// for words in (store as? any LimitedStore)?.limitations ?? [] { print(words) }
/// ```
///
/// It may be asked at any time, from any thread; it throws no error, and asks no database.
public protocol LimitedStore {
    /// The kind of the database and what it lacks, a sentence each; empty if it lacks nothing.
    var limitations: [String] { get }
}
