import BridgeKit
import Glibc

/// What walks and readers need of a share: a connection to one, or a recording of it.
protocol Share: AnyObject {
    var options: ShareOptions { get }

    /// A folder's names with all their attributes; `folder` is below the share.
    ///
    /// - Parameter fileIDs: Whether the ids of files are wanted, too; those of folders always come.
    func list(_ folder: [String], fileIDs: Bool) throws(SMBFailure) -> SMBListing

    /// Up to `limit` bytes from `offset` of a file that stays what it was; `expected` nil takes the present state.
    func read(
        _ path: [String], offset: Int64, limit: Int, expecting expected: FileVersion?
    ) throws(SMBFailure) -> (bytes: [UInt8], version: FileVersion)

    /// Whether its answers take long to arrive, however little there is to do: then more of them should be on their way.
    var isFar: Bool { get }

    /// Who owns a file or folder.
    func owners(of path: [String]) throws(SMBFailure) -> Owners

    /// Seconds since 1970; of a recording, when it was made.
    var now: Int64 { get }
}

extension Share {
    var url: ShareURL { options.url }
    var now: Int64 { Int64(time(nil)) }
    var isFar: Bool { true }

    func list(_ folder: [String]) throws(SMBFailure) -> SMBListing { try list(folder, fileIDs: false) }
}

/// Security identifiers ([MS-DTYP], section 2.4.2) of who owns a file; nil where the server told none.
struct Owners: Equatable, Sendable {
    var owner: String?
    var group: String?
}
