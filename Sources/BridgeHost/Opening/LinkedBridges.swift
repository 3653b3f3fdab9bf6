internal import RecordBatch

/// The bridges linked into this program, after the handshake.
final class LinkedBridges: Sendable {
    /// The bridges' listings in the given order; a second bridge of the same name is refused.
    let listings: [PluginListing]
    private let plugins: [String: LoadedPlugin]

    /// The path shown for a linked bridge, which has no file.
    static let path = "(part of this program)"

    init(_ bridges: [any LinkedBridge]) {
        var plugins: [String: LoadedPlugin] = [:]
        listings = bridges.map { bridge in
            do {
                let plugin = try LoadedPlugin.link(bridge)
                var listing = try Self.listing(plugin)
                guard listing.refusal == nil else { return listing }
                if plugins[listing.name] == nil {
                    plugins[listing.name] = plugin
                } else {
                    listing.refusal = "another bridge of this program has the name `\(listing.name)`"
                }
                return listing
            } catch let error as PluginRefusal {
                return PluginListing(path: Self.path, refusal: error.reason)
            } catch {
                return PluginListing(path: Self.path, refusal: "its description cannot be read: \(error)")
            }
        }
        self.plugins = plugins
    }

    /// Reads and validates a linked bridge's description, as for any plugin.
    ///
    /// The description is a constant, so reading it now costs little.
    private static func listing(_ plugin: LoadedPlugin) throws -> PluginListing {
        let identity = ForeignBytes(try PluginHello.batch(plugin.identity))
        guard case .done(let description, _) = plugin.describe() else {
            return PluginListing(path: path, refusal: "it cannot describe itself")
        }
        var listing = PluginHello.listing(path: path, .done(identity, description))
        listing.origin = .shipped
        return listing
    }

    /// Returns the linked bridge of a listing; nil for a plugin from a file.
    func plugin(of listing: PluginListing) -> LoadedPlugin? {
        listing.path == Self.path ? plugins[listing.name] : nil
    }
}
