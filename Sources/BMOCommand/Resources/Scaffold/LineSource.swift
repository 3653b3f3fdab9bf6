import BridgeKit
import Glibc
import Synchronization

/// A scan over the lines, a page at a time; the resume point is the number of lines that are done.
final class LineSource: RecordSource {
    private let path: String
    private let lines: [Substring]
    private let pageSize: Int
    private var done: Int
    private let isCancelled = Atomic(false)

    init(_ path: String, from cursor: String?, pageSize: Int) throws {
        self.path = path
        self.pageSize = pageSize
        lines = try Self.read(path)
        done = 0
        if let cursor {
            guard let number = Int(cursor), (0...lines.count).contains(number) else {
                throw BridgeError(.configuration, "`\(cursor)` is not a resume point of \(path)")
            }
            done = number
        }
    }

    func next(into writer: RecordBatchWriter) throws -> Page {
        if isCancelled.load(ordering: .relaxed) { throw BridgeError(.cancelled, "cancelled") }
        var rejected: [Page.Rejected] = []
        let end = min(done + pageSize, lines.count)
        for (index, line) in lines[done..<end].enumerated() {
            let parts = line.split(separator: "\t", maxSplits: 1)
            guard parts.count == 2, let id = Int(parts[0]) else {
                // What cannot be represented is never dropped in silence.
                rejected.append(.init(index: index, reason: "not ID<TAB>NAME", representation: String(line)))
                continue
            }
            writer.object {
                writer.member("id", id)
                writer.member("name", String(parts[1]))
            }
        }
        done = end
        let isEnd = done == lines.count
        return Page(
            cursor: isEnd ? nil : String(done), isPageEnd: true, isEnd: isEnd, isComplete: isEnd,
            total: Int64(lines.count), location: path, rejected: rejected)
    }

    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    static func read(_ path: String) throws -> [Substring] {
        guard let file = fopen(path, "r") else {
            throw BridgeError(
                errno == ENOENT ? .notFound : .permission,
                "\(path) cannot be read: \(String(cString: strerror(errno)))",
                remedy: "check the option `path`")
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
        // What could not be read is not gone: a scan without it must not count as complete.
        guard ferror(file) == 0 else {
            throw BridgeError(
                .remote, "\(path) cannot be read: \(String(cString: strerror(errno)))", location: path,
                isRetryable: true)
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }
}
