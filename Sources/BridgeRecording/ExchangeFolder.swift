internal import TextFormats
internal import BridgeContract
internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The files of a recording, and the report of its use by a replay; several processes may access them at the same time.
struct ExchangeFolder: Sendable {
    let path: String
    /// The report file, to which each process appends a line per action.
    let report: String

    static let ending = ".http"

    /// The names of the exchanges, in order.
    var names: [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            // The report separates its words by spaces, so a name with a space would not be one word.
            if name.hasSuffix(Self.ending), !name.hasPrefix("."), !name.contains(" ") { names.append(name) }
        }
        return names.sorted()
    }

    /// Reads an exchange; an invalid one is reported with its line: `broken NAME:LINE: WORDS`.
    func exchange(_ name: String) -> ExchangeFile? {
        guard let bytes = Self.read(path + "/" + name), let text = String(validUTF8: bytes) else {
            note("broken \(name):1: not readable UTF-8 text")
            return nil
        }
        if let fault = ExchangeFile.fault(in: text) {
            note("broken \(name):\(fault.line): \(fault.words)")
            return nil
        }
        let base = name.dropLast(Self.ending.count)
        var missing: [String] = []
        let file = ExchangeFile(text) { ending in
            let bytes = Self.read("\(path)/\(base).\(ending)")
            if bytes == nil { missing.append("\(base).\(ending)") }
            return bytes
        }
        guard missing.isEmpty else {
            let line =
                text.split(separator: "\n", omittingEmptySubsequences: false)
                .firstIndex { $0 == ExchangeFile.besides } ?? 0
            note(
                "broken \(name):\(line + 1): \(ExchangeFile.besides) is named here, but there is no file \(missing[0])")
            return nil
        }
        return file
    }

    private func note(_ line: String) { try? withReport { _ in ([line], ()) } }

    func write(_ exchange: ExchangeFile, as base: String) throws {
        for (ending, body) in [("request", exchange.body), ("reply", exchange.replyBody)] {
            if case .bytes(let bytes) = body { try Self.write(bytes, to: "\(path)/\(base).\(ending)") }
        }
        try Self.write(Array(exchange.text.utf8), to: "\(path)/\(base)\(Self.ending)")
    }

    /// The open report, under a lock against other processes.
    struct Report {
        fileprivate let file: CInt

        /// Returns the lines after a place, which is a line's end, and their own end.
        ///
        /// The report only grows, so that its reader goes on from there.
        func lines(after place: Int) -> (lines: [Substring], end: Int) {
            var bytes: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                let count = pread(file, &chunk, chunk.count, off_t(place + bytes.count))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                bytes += chunk[..<count]
            }
            let end = bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
            return (String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\n"), place + end)
        }
    }

    /// Calls `body` with the report and appends the lines that it returns, under a lock against other processes.
    func withReport<Result>(_ body: (Report) -> (more: [String], Result)) throws -> Result {
        let file = open(report, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw Self.failure("the report of the replay", report) }
        defer { close(file) }
        guard flock(file, LOCK_EX) == 0 else { throw Self.failure("the report of the replay", report) }
        let (more, result) = body(Report(file: file))
        let text = more.map { $0.replacing("\n", with: " ") + "\n" }.joined()
        let written = Array(text.utf8).withUnsafeBytes { systemWrite(file, $0.baseAddress, $0.count) }
        guard written == text.utf8.count else { throw Self.failure("the report of the replay", report) }
        return result
    }

    /// Reads a file whole: the limit of the reply that it holds has been checked when it was recorded.
    private static func read(_ path: String) -> [UInt8]? { try? BoundedFile.read(path, limit: .max) }

    private static func write(_ bytes: [UInt8], to path: String) throws {
        do throws(AtomicFile.Failure) {
            try AtomicFile.create(path, bytes, mode: 0o666)
        } catch {
            throw failure("the exchange", path, error.words)
        }
    }

    private static func failure(
        _ what: String, _ path: String, _ words: String = String(cString: strerror(errno))
    ) -> BridgeError {
        BridgeError(
            .internal, "\(what) cannot be written: \(words)",
            remedy: "check the folder and the free space on the disk", location: path)
    }
}
