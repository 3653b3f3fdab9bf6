import BridgeKit
import RowFormats

/// The bytes of a file on a share, with checks that it does not change while it is read.
///
/// A file of up to 4 MB is read at once. A larger one is read in chunks of that size; each chunk opens the file anew
/// and checks that it is unchanged, because an open file keeps others from renaming or deleting it.
final class ShareFile: ByteFile {
    let share: any Share
    /// Components below the share.
    let path: [String]
    /// The file's state; nil before the first chunk.
    private(set) var version: FileVersion?
    var size: Int64 { version?.size ?? 0 }
    private var offset: Int64 = 0
    private var ahead: [UInt8]?

    init(share: any Share, path: [String], version: FileVersion? = nil) {
        self.share = share
        self.path = path
        self.version = version
    }

    /// - Throws: ``SMBFailure``.
    func read() throws -> [UInt8]? {
        if let ahead {
            self.ahead = nil
            return ahead
        }
        if let version, offset >= version.size { return nil }
        let bytes = try read(at: offset, limit: SMBEntry.chunkBytes)
        offset += Int64(bytes.count)
        return bytes.isEmpty ? nil : bytes
    }

    /// Reads up to `limit` bytes at any offset; fewer at the end.
    func read(at offset: Int64, limit: Int) throws -> [UInt8] {
        let read = try share.read(path, offset: offset, limit: limit, expecting: version)
        version = read.version
        return read.bytes
    }

    /// Returns the first chunk, which ``read()`` returns again.
    func peek() throws -> [UInt8] {
        if let ahead { return ahead }
        let bytes = try read() ?? []
        if !bytes.isEmpty { ahead = bytes }
        return bytes
    }
}
