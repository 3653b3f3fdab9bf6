/// Whether and how the values of an attribute or a relationship go back to the remote.
public struct WriteRule: Sendable, Equatable {
    /// When a value may be set.
    public enum Permission: String, Sendable, CaseIterable {
        /// In a new object and in one that is there.
        case always
        /// In a new object only.
        case createOnly = "create_only"
        /// Never: it comes from the remote.
        case never
    }

    /// What a value is sent as, where its type leaves that open.
    public enum Form: String, Sendable, CaseIterable {
        /// A text.
        case text
        /// A number.
        case number
        /// The bare key of the object that a relationship leads to.
        case key
        /// An object with the key of the object that a relationship leads to.
        case object
    }

    /// When a value may be set.
    public var permission: Permission
    /// Where a value goes; nil is where it comes from.
    public var path: RemotePath?
    /// What a value is sent as; nil leaves it to its type.
    public var form: Form?
    /// Whether the configuration says so, rather than nothing.
    public var isExplicit: Bool

    /// A rule; without arguments the usual one.
    public init(
        permission: Permission = .always, path: RemotePath? = nil, form: Form? = nil, isExplicit: Bool = false
    ) {
        self.permission = permission
        self.path = path
        self.form = form
        self.isExplicit = isExplicit
    }
}
