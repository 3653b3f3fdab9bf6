/// The reason why the scan of an entity ended early.
public struct SyncFailure: Error, Sendable, CustomStringConvertible {
    /// The entity.
    public var entity: String
    /// Its bridge's name in the configuration.
    public var bridge: String
    /// The page that failed, from 1; nil before the first page.
    public var page: Int?
    /// The kind of failure, as a word: of the bridge (`authentication`, `timeout`, ...), of the store or of the
    /// configuration.
    public var code: String
    /// What failed, and on which object.
    public var message: String
    /// The remedy.
    public var remedy: String?
    /// The URL or path, without secrets.
    public var location: String?
    /// The remote's message.
    public var remote: String?
    /// The number of rows that the deletion limit kept from being deleted; nil for another failure.
    package var heldDeletions: Int?

    /// The code of a sync that deleted nothing, because it would have exceeded the deletion limit.
    static let deletionsHeld = "brake"

    /// The failure on one line.
    public var description: String {
        var text = "\(entity) (bridge \(bridge)\(page.map { ", page \($0)" } ?? "")): \(code): \(message)"
        if let location, !message.contains(location) { text += " at \(location)" }
        if let remote { text += "; the remote says: \(remote)" }
        if let remedy { text += "; \(remedy)" }
        return text
    }
}
