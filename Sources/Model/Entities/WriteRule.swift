/// Whether and how the values of an attribute or a relationship are sent to the remote.
public struct WriteRule: Sendable, Equatable {
    /// When a value may be set.
    public enum Permission: String, Sendable, CaseIterable {
        /// In new and existing objects.
        case always
        /// In new objects only.
        case createOnly = "create_only"
        /// Never: the remote provides it.
        case never
    }

    /// The remote form of a value, if its type leaves a choice.
    public enum Form: String, Sendable, CaseIterable {
        /// A text.
        case text
        /// A number.
        case number
        /// The key of the target object, as a single value.
        case key
        /// An object that contains the key of the target object.
        case object
    }

    /// When a value may be set.
    public var permission: Permission
    /// The path that a value is sent to; nil for the path that it is read from.
    public var path: RemotePath?
    /// The remote form of a value; nil for the default of its type.
    public var form: Form?
    /// Whether the configuration sets the rule.
    public var isExplicit: Bool

    /// Creates a rule; by default, it always permits writing.
    public init(
        permission: Permission = .always, path: RemotePath? = nil, form: Form? = nil, isExplicit: Bool = false
    ) {
        self.permission = permission
        self.path = path
        self.form = form
        self.isExplicit = isExplicit
    }
}
