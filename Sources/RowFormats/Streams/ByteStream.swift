/// A stream of bytes in pieces.
package protocol ByteStream: AnyObject {
    /// Returns the next piece, of at least one byte; nil at the end.
    func read() throws -> [UInt8]?
}

/// A file that can be read from its beginning, as a stream, and at any offset.
///
/// The reader of rows uses one file from one thread. What the file throws passes through the reader unchanged.
package protocol ByteFile: ByteStream {
    /// The file's size in bytes, which is known once ``peek()`` has returned.
    var size: Int64 { get }

    /// Returns the first piece, which ``ByteStream/read()`` returns again; empty for an empty file.
    func peek() throws -> [UInt8]

    /// Reads up to `limit` bytes at any offset; fewer at the end.
    func read(at offset: Int64, limit: Int) throws -> [UInt8]
}

/// The packing formats, recognised by a file's first bytes.
package enum Packing {
    case none, gzip, zip

    package init(_ bytes: [UInt8]) {
        if bytes.starts(with: [0x1F, 0x8B]) {
            self = .gzip
        } else if bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) || bytes.starts(with: [0x50, 0x4B, 0x05, 0x06]) {
            self = .zip
        } else {
            self = .none
        }
    }
}
