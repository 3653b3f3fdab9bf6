// This plugin links libsmbclient, which is GPL-3: the built plugin falls under that licence. Nothing else of bmo links
// libsmbclient, and the plugin is loaded only when a config asks for it.

public import BridgeKit

/// Reads files, and the rows of CSV files, from an SMB share.
///
/// libsmbclient is not thread-safe and writes to the standard output, so the host runs this bridge in a child process.
public final class SMBBridge: Bridge {
    /// What this bridge is and can do.
    public static let descriptor = BridgeDescriptor(
        name: "smb", version: "0.1.0", summary: "Files and CSV rows of an SMB share (Windows, Samba, NAS).",
        optionsSchema: optionsSchema, entitySchema: entitySchema, isolation: .childProcess, isConcurrent: false,
        capabilities: [.check, .fetch, .resume])

    let options: ShareOptions
    let connection: SMBConnection

    /// Checks the options and makes a libsmbclient context; does not connect.
    public init(options: BridgeOptions, context: BridgeContext) throws {
        self.options = try ShareOptions(options)
        connection = try SMBConnection(self.options, context: context)
    }

    /// Opens the share and the folder that the URL names.
    public func check() throws -> String? {
        do {
            _ = try connection.list(options.url.folder)
        } catch {
            throw connection.explain(error)
        }
        let who = options.user.isEmpty ? "without a user" : "as \(options.user)"
        return "\(options.url.location([])) is open \(who)"
    }

    /// Begins a walk over files or over the rows of CSV files, as the entity's section says.
    public func fetch(_ request: FetchRequest) throws -> any RecordSource {
        let pageSize = min(max(request.pageSize ?? 1000, 1), 100_000)
        switch try EntitySection(request.section) {
        case .files(let section):
            return FileSource(
                listing: listing(section.listing, mode: "files", cursor: request.cursor), section: section,
                pageSize: pageSize)
        case .csv(let section):
            return CSVSource(
                listing: listing(section.listing, mode: "csv", cursor: request.cursor), section: section,
                pageSize: pageSize)
        }
    }

    private func listing(_ options: ListingOptions, mode: String, cursor: String?) -> FileListing {
        FileListing(connection: connection, url: self.options.url, options: options, mode: mode, cursor: cursor)
    }
}
