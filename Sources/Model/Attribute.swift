/// A value of an entity: a column of its table.
public struct Attribute: Sendable, Equatable {
    /// Where an attribute's value comes from.
    public enum Source: Sendable, Equatable {
        /// What stands at a path in the remote representation.
        case path(RemotePath)
        /// The same value for every object.
        case constant(ConfigValue)
    }

    /// The attribute's name, which is its column's.
    public var name: String
    /// What its values are.
    public var type: AttributeType
    /// Where its values come from.
    public var source: Source
    /// What is done to a remote value before its type is read, in this order.
    public var transformers: [Transformer]
    /// Where the file declares the attribute.
    public var location: SourceLocation
    /// What the attribute was called before, so that its column is renamed.
    public var renamedFrom: String?
    /// Whether and how its values go back to the remote.
    public var write = WriteRule()

    /// An attribute; `source` defaults to the member of the record with the attribute's name.
    public init(
        name: String, type: AttributeType = .text, source: Source? = nil, transformers: [Transformer] = [],
        location: SourceLocation = .unknown
    ) {
        self.name = name
        self.type = type
        self.source = source ?? .path(RemotePath([name]))
        self.transformers = transformers
        self.location = location
    }
}

/// The types of attributes, named as in a configuration.
public enum AttributeType: String, Sendable, CaseIterable {
    /// Unicode text.
    case text
    /// A signed integer of 64 bits.
    case integer
    /// An IEEE 754 double.
    case real
    /// True or false.
    case boolean
    /// A number in its exact decimal text.
    case decimal
    /// A moment, in microseconds.
    case timestamp
    /// A day without a time.
    case date
    /// Bytes; remote texts are base64 (RFC 4648).
    case data
    /// Any JSON value, kept as it is.
    case json
    /// A URL (RFC 3986).
    case url
    /// A UUID (RFC 9562).
    case uuid
}
