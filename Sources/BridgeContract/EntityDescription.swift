public import RecordBatch

/// An entity that an API offers: what a bridge writes in `Bridge.discover(into:)`.
///
/// ```swift
/// EntityDescription(
///     "Country",
///     fields: [.init("code", "text", isKey: true), .init("name", "text")],
///     section: BridgeOptions { $0.member("path", "countries") }
/// ).write(to: writer)
/// ```
///
/// `bmo introspect` makes a configuration of it; the reason of each guess becomes a comment.
public struct EntityDescription: Sendable {
    /// The entity's name, such as `Country`.
    public var name: String
    /// The fields of its records.
    public var fields: [Field]
    /// The confidence in the choice of the key fields.
    public var key: Confidence?
    /// The relationships to other entities of the same API.
    public var relationships: [Relationship] = []
    /// The relationship to the parent entity, if each of the parent's objects has a listing of its own.
    public var parent: String?
    /// The entity's section of the configuration, as the bridge reads it.
    public var section: BridgeOptions
    /// The confidence in the members of the section, by name.
    public var reasons: [(name: String, confidence: Confidence)] = []
    /// The confidence in the entity as a whole.
    public var confidence: Confidence?
    /// Members of the configuration that a person must enable.
    public var proposals: [Proposal] = []
    /// Facts for the user.
    public var notes: [String] = []
    /// The reason why a person has to complete the entity before use; nil if it is ready.
    public var obstacle: String?
    /// The meaning of a member that a record lacks, as named in the configuration; nil if the bridge does not know it.
    public var absent: String?
    /// The ``ServiceDescription/part`` of the API that the entity belongs to; nil for the main part.
    public var part: String?

    /// How sure a guess is, and why.
    public struct Confidence: Sendable, Equatable {
        /// How sure a guess is.
        public enum Level: String, Sendable {
            /// The API says so.
            case high
            /// It is likely.
            case medium
            /// A person should check it.
            case low
        }

        /// How sure the guess is; nil if the bridge does not say.
        public var level: Level?
        /// The reason, such as `named id`.
        public var reason: String?

        /// Creates a confidence.
        public init(_ level: Level?, _ reason: String?) {
            self.level = level
            self.reason = reason
        }

        /// A guess that the API confirms.
        public static func high(_ reason: String) -> Confidence { Confidence(.high, reason) }
        /// A likely guess.
        public static func medium(_ reason: String) -> Confidence { Confidence(.medium, reason) }
        /// A guess that a person should check.
        public static func low(_ reason: String) -> Confidence { Confidence(.low, reason) }
    }

    /// A field of the entity's records.
    public struct Field: Sendable {
        /// The path in the record, with dots; a dot inside a name is escaped as `\.`.
        public var path: String
        /// The attribute's type, as named in the configuration.
        public var type: String
        /// Whether the field is part of the key.
        public var isKey: Bool
        /// The attribute's name; nil for the one that follows from the path.
        public var localName: String?
        /// The transformers, in the form of the configuration.
        public var transform: Value?
        /// The confidence in the type.
        public var confidence: Confidence?
        /// Whether the remote sets the value, and takes none.
        public var isReadOnly: Bool

        /// Creates a field.
        public init(
            _ path: String, _ type: String, isKey: Bool = false, localName: String? = nil, transform: Value? = nil,
            confidence: Confidence? = nil, isReadOnly: Bool = false
        ) {
            self.path = path
            self.type = type
            self.isKey = isKey
            self.localName = localName
            self.transform = transform
            self.confidence = confidence
            self.isReadOnly = isReadOnly
        }
    }

    /// A relationship to another entity.
    public struct Relationship: Sendable {
        /// The relationship's name.
        public var name: String
        /// The name of the entity that it leads to.
        public var target: String
        /// Whether it leads to several objects.
        public var isToMany: Bool
        /// The path of the key, or of the nested objects, in the record; nil if there is none.
        public var path: String?
        /// The name of the inverse relationship in the target.
        public var inverse: String?
        /// The confidence in the relationship.
        public var confidence: Confidence?

        /// Creates a relationship.
        public init(
            _ name: String, to target: String, isToMany: Bool = false, path: String? = nil, inverse: String? = nil,
            confidence: Confidence? = nil
        ) {
            self.name = name
            self.target = target
            self.isToMany = isToMany
            self.path = path
            self.inverse = inverse
            self.confidence = confidence
        }
    }

    /// A member of the configuration that a person must enable: it is written commented out.
    public struct Proposal: Sendable {
        /// The member's name.
        public var name: String
        /// The member's value.
        public var value: Value
        /// Whether it belongs to the bridge's section; otherwise to the entity.
        public var isOfSection: Bool
        /// The confidence in it.
        public var confidence: Confidence?

        /// Creates a proposal.
        public init(_ name: String, _ value: Value, isOfSection: Bool, confidence: Confidence? = nil) {
            self.name = name
            self.value = value
            self.isOfSection = isOfSection
            self.confidence = confidence
        }
    }

    /// A value of the configuration.
    public struct Value: Sendable, ExpressibleByStringLiteral {
        // An object with one member, because a batch of a description holds objects.
        private let holder: BridgeOptions
        private static let member = "value"

        /// Creates the value that `body` writes.
        public init(_ body: (RecordBatchWriter) -> Void) {
            holder = BridgeOptions { writer in
                writer.key(Self.member)
                body(writer)
            }
        }

        /// Creates a text.
        public init(stringLiteral value: String) { self.init { $0.text(value) } }

        init(copying value: BatchValue) { self.init { $0.copy(value) } }

        /// Writes the value into a batch.
        public func write(to writer: RecordBatchWriter) {
            withValue { value in if let value { writer.copy(value) } else { writer.null() } }
        }

        /// Calls `body` with the value, which is valid only during the call.
        package func withValue<Result>(_ body: (BatchValue?) throws -> Result) rethrows -> Result {
            try holder.withValue(Self.member, body)
        }
    }

    /// Creates a description.
    public init(_ name: String, fields: [Field] = [], section: BridgeOptions = .empty) {
        self.name = name
        self.fields = fields
        self.section = section
    }

    /// Returns a path with dots for the names of nested members.
    public static func path(_ names: [String]) -> String {
        names.map { name in
            let escaped = name.replacing("\\", with: "\\\\").replacing(".", with: "\\.")
            // Unescaped, `[0]` would not be a part of a name.
            return name.contains(/\[([0-9]+|\*)\]/) ? escaped.replacing("[", with: "\\[") : escaped
        }.joined(separator: ".")
    }
}
