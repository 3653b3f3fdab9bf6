/// Removes a connection's secrets from text stored about its records.
public struct Redaction: Sendable {
    /// Removes whole secrets from representations, which may be parsed again as data.
    public var data: @Sendable (String) -> String
    /// Removes secrets and fragments of them from text for people: reasons and field names.
    public var words: @Sendable (String) -> String

    /// Creates a redaction from two functions.
    public init(
        data: @escaping @Sendable (String) -> String, words: @escaping @Sendable (String) -> String
    ) {
        self.data = data
        self.words = words
    }

    /// Keeps every text unchanged, for records that do not come from a connection.
    public static let none = Redaction(data: { $0 }, words: { $0 })
}
