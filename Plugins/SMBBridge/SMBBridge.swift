// This plugin links libsmbclient, which is GPL-3: the built plugin falls under that licence. No other part of bmo links
// libsmbclient, and the plugin is loaded only if a configuration asks for it.

public import BridgeKit
public import RecordBatch

/// Reads and writes files, and the rows of files, on an SMB share.
///
/// libsmbclient is not thread-safe and writes to the standard output, so the host runs this bridge in a child process.
public final class SMBBridge: Bridge {
    /// The bridge's name, schemas and capabilities.
    public static let descriptor = BridgeDescriptor(
        name: "smb", version: "0.2.0", summary: "Files, and rows in files, of an SMB share (Windows, Samba, NAS).",
        optionsSchema: optionsSchema, entitySchema: entitySchema, isolation: .childProcess, isConcurrent: false,
        capabilities: [
            .check, .fetch, .resume, .incremental, .create, .update, .delete, .discover, .watch, .validate, .replay,
            .moves,
        ])

    let options: ShareOptions
    let connection: SMBConnection
    private let context: BridgeContext

    /// Validates the options and creates a libsmbclient context; does not connect.
    public init(options: BridgeOptions, context: BridgeContext) throws {
        self.options = try ShareOptions(options)
        self.context = context
        CapturedOutput.divert()
        connection = try SMBConnection(self.options, context: context)
    }

    /// Opens the share and the URL's folder.
    public func check() throws -> String? {
        do {
            _ = try connection.list(options.url.folder)
        } catch {
            throw connection.explain(error)
        }
        return "\(options.url.location([])) is open \(options.credentials.words)"
    }

    /// Begins a scan of files, folders or the rows of files, depending on the entity's section.
    public func fetch(_ request: FetchRequest) throws -> any RecordSource {
        if request.validates {
            let section = try EntitySection(request.section)
            if section.readsOwners { try EntitySection.checkOwners(options.url) }
            return ValidationSource(section.faults(in: request))
        }
        if request.section.has(ListingRelay.member) { return ListingRelay.Source(request.section, share: connection) }
        if let milliseconds = request.watchMilliseconds {
            let patterns = try EntitySection(request.section).listing.patterns
            return try ShareWatch(connection, patterns: patterns, milliseconds: milliseconds)
        }
        let hasHelpers = context.hasWorkers && options.workers > 1
        return try EntitySection.source(
            request, share: connection, queue: hasHelpers ? ListingQueue(context, threads: options.workers) : nil)
    }

    /// Surveys the share's first folders, and proposes entities: files, folders, and the rows of table-like files.
    public func discover(into writer: RecordBatchWriter) throws {
        var discovery = try Discovery(connection)
        try discovery.write(to: writer)
    }

    /// Writes a file, a folder, or a row of a file, depending on the entity's section.
    public func write(_ request: WriteRequest, into writer: RecordBatchWriter) throws {
        switch try EntitySection(request.section) {
        case .files(let section):
            try FileWriter(connection: connection, section: section).write(request, into: writer)
        case .rows(let section): try RowWriter(connection: connection, section: section).write(request, into: writer)
        }
    }
}
