/// An error for a secret that cannot be read.
///
/// It names the variable or file, never a value.
public struct SecretError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: Sendable {
        /// The variable or file does not exist.
        case missing
        /// The variable or file is empty.
        case empty
        /// The file cannot be read as text of at most 64 KiB.
        case unreadable
    }

    /// The kind of failure.
    public var code: Code
    /// The reference to the secret.
    public var reference: SecretReference
    /// The failure and the variable or file that it concerns.
    public var message: String
    /// How to fix it.
    public var remedy: String

    init(_ code: Code, _ reference: SecretReference, _ message: String, _ remedy: String) {
        self.code = code
        self.reference = reference
        self.message = message
        self.remedy = remedy
    }

    /// The message and the remedy on one line.
    public var description: String { "\(message); \(remedy)" }
}
