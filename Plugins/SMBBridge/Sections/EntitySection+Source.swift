import BridgeKit
import RecordBatch

extension EntitySection {
    static func checkOwners(_ url: ShareURL) throws {
        guard let port = url.port, port != 445 else { return }
        throw BridgeError(
            .configuration, "owners: libsmbclient asks for them at port 445 only, but the url names \(port)",
            remedy: "leave out owners, or use a server at port 445")
    }

    /// Returns a scan of a share, or of the recording of one.
    static func source(
        _ request: FetchRequest, share: any Share, queue: ListingQueue? = nil
    ) throws -> any RecordSource {
        // A cursor of another version or question restarts the scan; a text that this bridge never returned is a
        // mistake.
        if let cursor = request.cursor, !cursor.hasPrefix("smb") {
            throw BridgeError(
                .configuration, "the resume point is not one of this bridge",
                remedy: "start the scan again with --restart")
        }
        let pageSize = min(max(request.pageSize ?? 1000, 1), 100_000)
        switch try EntitySection(request.section) {
        case .files(let section):
            if section.readsOwners { try checkOwners(share.url) }
            let listing = FileListing(
                share: share, options: section.listing, mode: section.question, pathField: "path",
                usesStates: section.readsFiles, request: request, queue: queue)
            return FileSource(
                listing: listing, section: section, fields: FileFields(request.fields), pageSize: pageSize)
        case .rows(let section):
            let listing = FileListing(
                share: share, options: section.listing, mode: section.question, pathField: "@path", usesStates: true,
                request: request, queue: queue)
            return RowSource(listing: listing, section: section, pageSize: pageSize)
        }
    }
}
