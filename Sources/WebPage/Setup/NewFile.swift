internal import Glibc

/// Writes a file that must not exist.
enum NewFile {
    /// Writes a text to a new file, which all may read as the user's mask allows.
    ///
    /// - Throws: ``PageFailure`` if the file exists, be it a link that leads nowhere, or cannot be written.
    static func write(_ text: String, to path: String) throws(PageFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else {
            let exists = errno == EEXIST
            throw PageFailure(
                409, exists ? "\(path) exists already; restart bmo serve." : "\(path) cannot be written: \(words)")
        }
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { break }
            if count > 0 { bytes = bytes.dropFirst(count) }
        }
        let reason = words
        guard close(descriptor) == 0, bytes.isEmpty else {
            unlink(path)
            throw PageFailure(500, "\(path) cannot be written: \(reason)")
        }
    }

    private static var words: String { strerror(errno).map { String(cString: $0) } ?? "error \(errno)" }
}
