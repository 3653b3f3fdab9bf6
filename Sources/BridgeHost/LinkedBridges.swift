internal import RecordBatch

/// The bridges that are part of this program, after the handshake.
final class LinkedBridges: Sendable {
    /// What they are, in the order in which they were given; a second one of a name is refused.
    let listings: [PluginListing]
    private let plugins: [String: LoadedPlugin]

    /// What stands for the file of a bridge that has none.
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

    /// A description is a constant text: it is read at once, and checked as that of any plugin.
    private static func listing(_ plugin: LoadedPlugin) throws -> PluginListing {
        let identity = ForeignBytes(try PluginHello.batch(plugin.identity))
        guard case .done(let description, _) = plugin.describe() else {
            return PluginListing(path: path, refusal: "it cannot describe itself")
        }
        var listing = PluginHello.listing(path: path, .done(identity, description))
        listing.origin = .shipped
        return listing
    }

    /// The bridge that a listing is of; nil for a plugin's.
    func plugin(of listing: PluginListing) -> LoadedPlugin? {
        listing.path == Self.path ? plugins[listing.name] : nil
    }
}
