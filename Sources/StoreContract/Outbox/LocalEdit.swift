public import Mapping

/// An edit of one local object.
public struct LocalEdit: Sendable {
    /// The kind of edit.
    public var operation: OutboxEntry.Operation
    /// The object's entity.
    public var entity: String
    /// The object's key; empty for a new object, whose key is among its values or is assigned.
    public var key: [StoredValue]
    /// The columns to set, by name.
    public var values: [String: StoredValue]
    /// The to-many relationships to set, by name, with the keys of all targets.
    public var links: [String: [[StoredValue]]]
    /// What the program says about the edit to the bridge: the text of a JSON object; nil for nothing.
    ///
    /// It may hold what others must not see, so a description or a dump shows only whether there is one.
    public var userInfo: String? {
        get { userInfoText.text }
        set { userInfoText.text = newValue }
    }
    private var userInfoText: HiddenText

    /// Creates an edit.
    public init(
        _ operation: OutboxEntry.Operation, entity: String, key: [StoredValue] = [],
        values: [String: StoredValue] = [:], links: [String: [[StoredValue]]] = [:], userInfo: String? = nil
    ) {
        self.operation = operation
        self.entity = entity
        self.key = key
        self.values = values
        self.links = links
        userInfoText = HiddenText(text: userInfo)
    }
}

/// The result of a local edit.
public struct EditReceipt: Sendable, Equatable {
    /// The object's entity.
    public var entity: String
    /// The object's key, which may be temporary for a new object.
    public var key: [StoredValue]
    /// The ID of the entry to be sent; nil if there is nothing to send.
    public var entry: Int64?

    /// Creates a receipt.
    public init(entity: String, key: [StoredValue], entry: Int64?) {
        self.entity = entity
        self.key = key
        self.entry = entry
    }
}
