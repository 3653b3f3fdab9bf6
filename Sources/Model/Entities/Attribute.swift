/// An attribute of an entity: a column of its table.
public struct Attribute: Sendable, Equatable {
    /// The source of an attribute's values.
    public enum Source: Sendable, Equatable {
        /// The value at a path in the remote representation.
        case path(RemotePath)
        /// The values at several paths: `join` makes a text of them, and `first` takes one.
        case paths([RemotePath])
        /// A constant, the same for every object.
        case constant(ConfigValue)

        /// The paths of the source.
        public var paths: [RemotePath] {
            switch self {
            case .path(let path): [path]
            case .paths(let paths): paths
            case .constant: []
            }
        }
    }

    /// The name of the attribute and its column.
    public var name: String
    /// The type of the values.
    public var type: AttributeType
    /// The source of the values.
    public var source: Source
    /// The steps applied to a remote value before its type conversion, in order.
    public var transformers: [Transformer]
    /// Where the file declares the attribute.
    public var location: SourceLocation
    /// The attribute's previous name, whose column is renamed.
    public var renamedFrom: String?
    /// The meaning of a missing member; nil uses the entity's rule.
    public var absent: AbsentRule?
    /// The name of the program's code that merges a value that changed here and on the remote; nil for the entity's policy.
    public var merge: String?
    /// Whether and how values are sent to the remote.
    public var write = WriteRule()

    /// Creates an attribute.
    ///
    /// By default, `source` is the record's member with the attribute's name.
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

/// The attribute types, named as in a configuration.
public enum AttributeType: String, Sendable, CaseIterable {
    /// Unicode text.
    case text
    /// A signed integer of 64 bits.
    case integer
    /// An IEEE 754 double.
    case real
    /// True or false.
    case boolean
    /// A number as its exact decimal text.
    case decimal
    /// An instant, in microseconds.
    case timestamp
    /// A day without a time.
    case date
    /// Bytes; a remote text is decoded as base64 (RFC 4648).
    case data
    /// Any JSON value, stored unchanged.
    case json
    /// A URL (RFC 3986).
    case url
    /// A UUID (RFC 9562).
    case uuid
}
