/// An error of a store.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: String, Sendable {
        /// The file cannot be opened or is not a bmo database.
        case open
        /// The file's tables do not match the model.
        case schema
        /// Another process has locked the file.
        case busy
        /// No space, missing permission or an I/O error.
        case io
        /// The request is invalid, such as a condition on a nonexistent field.
        case request
        /// A rule of the database rejects a row, such as a unique index or trigger that a user added.
        ///
        /// The attempted write is undone, and the page can continue without it.
        case constraint
        /// Another worker has taken over the unit of work to which the transaction belongs.
        case superseded
        /// A defect in bmo or a damaged file.
        case `internal`
    }

    /// The kind of failure.
    public let code: Code
    /// The failure and the object that it concerns.
    public let message: String
    /// What the user can do about it.
    public let remedy: String?

    /// Whether the transaction was rolled back and may succeed if it is run again from its beginning: a serialization
    /// failure, a deadlock, or a connection lost before the commit.
    ///
    /// `TransientRetry` runs it again.
    public var isTransient: Bool
    /// Whether the transaction may have been committed all the same: nothing may repeat it, because what it has appended
    /// would be there twice.
    public var mayHaveCommitted = false

    /// Creates an error.
    public init(_ code: Code, _ message: String, remedy: String? = nil, isTransient: Bool = false) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.isTransient = isTransient
    }

    /// The message and the remedy on one line.
    public var description: String { remedy.map { "\(message); \($0)" } ?? message }
}
