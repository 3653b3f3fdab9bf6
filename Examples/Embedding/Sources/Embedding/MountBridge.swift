import BridgeKit
import Glibc

/// Brings the file systems that are mounted: the lines of `/proc/self/mountinfo` (proc(5)).
final class MountBridge: Bridge {
    static let descriptor = BridgeDescriptor(
        name: "mounts", version: "1.0", summary: "File systems that are mounted on this machine", optionsSchema: "",
        entitySchema: "", capabilities: [.fetch])

    init(options: BridgeOptions, context: BridgeContext) {}

    func fetch(_ request: FetchRequest) throws -> any RecordSource { MountList() }
}

/// All of them are one page.
private final class MountList: RecordSource {
    func next(into writer: RecordBatchWriter) throws -> Page {
        for line in try text(of: "/proc/self/mountinfo").split(separator: "\n") {
            // 36 35 98:0 /root /mount/point options optional... - type source options
            let fields = line.split(separator: " ")
            guard let dash = fields.firstIndex(of: "-"), dash >= 6, fields.count > dash + 2, let id = Int64(fields[0])
            else { throw BridgeError(.malformed, "a line of mountinfo does not have the format of proc(5)") }
            writer.object {
                writer.member("id", id)
                writer.member("path", String(fields[4]))
                writer.member("type", String(fields[dash + 1]))
                writer.member("device", object: { writer.member("source", String(fields[dash + 2])) })
            }
        }
        return Page(isPageEnd: true, isEnd: true, isComplete: true, location: "/proc/self/mountinfo")
    }

    func cancel() {}

    private func text(of path: String) throws -> String {
        guard let file = fopen(path, "r") else { throw BridgeError(.notFound, "cannot open \(path)", location: path) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        // What could not be read is not gone: a list without it must not count as complete.
        guard ferror(file) == 0 else {
            throw BridgeError(.remote, "cannot read \(path)", location: path, isRetryable: true)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
