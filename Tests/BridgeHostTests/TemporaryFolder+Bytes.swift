import Glibc
import TestSupport
import Testing

/// Files as bytes, for plugins that are cut or spoilt.
extension TemporaryFolder {
    /// Copies a file in under a name; returns the path.
    @discardableResult
    func copy(_ source: String, as name: String, bytes limit: Int? = nil) throws -> String {
        try write(Self.read(source, limit), as: name)
    }

    @discardableResult
    func write(_ bytes: [UInt8], as name: String) throws -> String {
        let target = "\(path)/\(name)"
        let file = open(target, O_WRONLY | O_CREAT | O_TRUNC, 0o755)
        try #require(file >= 0)
        defer { close(file) }
        try #require(Glibc.write(file, bytes, bytes.count) == bytes.count)
        return target
    }

    static func text(_ path: String) throws -> String { String(decoding: try read(path, nil), as: UTF8.self) }

    static func bytes(_ path: String) throws -> [UInt8] { try read(path, nil) }

    private static func read(_ path: String, _ limit: Int?) throws -> [UInt8] {
        let file = open(path, O_RDONLY)
        try #require(file >= 0)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: limit ?? Int(lseek(file, 0, SEEK_END)))
        try #require(pread(file, &bytes, bytes.count, 0) == bytes.count)
        return bytes
    }
}
