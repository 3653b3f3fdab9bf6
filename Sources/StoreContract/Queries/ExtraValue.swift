/// A value of a member that no attribute reads.
public struct ExtraValue: Sendable {
    /// The member's name.
    public let name: String
    /// The value's type, as named by SQLite's `json_each`.
    public let type: String
    /// The value, if it is text or a number.
    public let text: String?

    /// Creates a value.
    package init(name: String, type: String, text: String? = nil) {
        self.name = name
        self.type = type
        self.text = text
    }
}
