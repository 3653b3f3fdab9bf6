/// How the webhooks of a bridge's remote are verified, and where they name the changed object.
public struct HookConfiguration: Sendable, Equatable {
    /// The secret that remote and bmo share.
    public var secret: SecretReference
    /// The header field with the signature.
    public var signature: String
    /// The header field with the time of sending, which the signature covers; nil if the remote sends none.
    public var timestamp: String?
    /// The path to the object's key in the body.
    public var key: RemotePath

    /// The header field that GitHub and many others use.
    public static let usualSignature = "X-Hub-Signature-256"
    /// The usual path to the key.
    public static let usualKey = RemotePath(["key"])

    /// Creates a hook.
    public init(
        secret: SecretReference, signature: String = Self.usualSignature, timestamp: String? = nil,
        key: RemotePath = Self.usualKey
    ) {
        self.secret = secret
        self.signature = signature
        self.timestamp = timestamp
        self.key = key
    }
}
