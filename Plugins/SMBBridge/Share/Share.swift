import BridgeKit
import Glibc

/// The operations of a share that scans and readers need: a connection to one, or a recording of it.
protocol Share: AnyObject {
    var options: ShareOptions { get }

    /// Lists a folder's names with all their attributes; `folder` is below the share.
    ///
    /// - Parameter fileIDs: Whether to include the ids of files; those of folders are always included.
    func list(_ folder: [String], fileIDs: Bool) throws(SMBFailure) -> SMBListing

    /// Reads up to `limit` bytes from `offset` of an unchanged file; `expected` nil accepts the present state.
    ///
    /// - Parameter growing: Whether the file may be the expected one with something appended.
    func read(
        _ path: [String], offset: Int64, limit: Int, expecting expected: FileVersion?, growing: Bool
    ) throws(SMBFailure) -> (bytes: [UInt8], version: FileVersion)

    /// Whether the latency is high, so that more requests should run in parallel.
    var isFar: Bool { get }

    /// Returns the owners of a file or folder.
    func owners(of path: [String]) throws(SMBFailure) -> Owners

    /// Seconds since 1970; for a recording, the time when it was made.
    var now: Int64 { get }

    /// Returns the failed sign-in in place of a refusal that comes from it.
    ///
    /// When a session has ended, libsmbclient signs in again with the next call. If the server does not accept that any
    /// more, it refuses each call as it refuses a path that the user may not read.
    func confirmed(_ failure: SMBFailure) -> SMBFailure
}

extension Share {
    var url: ShareURL { options.url }
    var now: Int64 { Int64(time(nil)) }
    var isFar: Bool { true }
    func confirmed(_ failure: SMBFailure) -> SMBFailure { failure }

    func list(_ folder: [String]) throws(SMBFailure) -> SMBListing { try list(folder, fileIDs: false) }

    func read(
        _ path: [String], offset: Int64, limit: Int, expecting expected: FileVersion?
    ) throws(SMBFailure) -> (bytes: [UInt8], version: FileVersion) {
        try read(path, offset: offset, limit: limit, expecting: expected, growing: false)
    }
}

/// Security identifiers ([MS-DTYP], section 2.4.2) of a file's owners; nil if the server sent none.
struct Owners: Equatable, Sendable {
    var owner: String?
    var group: String?
}
