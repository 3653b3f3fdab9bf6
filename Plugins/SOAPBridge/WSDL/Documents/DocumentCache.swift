internal import Digests
internal import Glibc
internal import SystemCalls
internal import TextFormats

/// Documents on disk with their ETag (RFC 9110, section 8.8.3) or date, so that the server need not resend an unchanged
/// WSDL.
///
/// A copy is used only if the server answers 304. A copy that can't be written or read is ignored. URLs are stored as
/// hashes only, because their queries may contain secrets.
struct DocumentCache: Sendable {
    let folder: String

    struct Entry {
        var tag: String
        var modified: String
        var bytes: [UInt8]

        /// The header fields of a conditional request for the document.
        var conditions: [(name: String, value: String)] {
            (tag.isEmpty ? [] : [("If-None-Match", tag)]) + (modified.isEmpty ? [] : [("If-Modified-Since", modified)])
        }
    }

    init(folder: String) { self.folder = folder }

    /// `$XDG_CACHE_HOME/bmo/wsdl`, or `~/.cache/bmo/wsdl`; nil if neither variable is set.
    static var userFolder: String? {
        func variable(_ name: String) -> String? {
            guard let text = getenv(name).map({ String(cString: $0) }), text.hasPrefix("/") else { return nil }
            return text
        }
        return (variable("XDG_CACHE_HOME") ?? variable("HOME").map { $0 + "/.cache" }).map { $0 + "/bmo/wsdl" }
    }

    /// Returns the entry of a URL.
    func entry(_ url: String) -> Entry? {
        guard let bytes = try? DocumentReader.readFile(path(url)) else { return nil }
        // Three lines (the URL's hash, the tag and the date), followed by the document.
        let lines = bytes.split(separator: 10, maxSplits: 3, omittingEmptySubsequences: false)
        guard lines.count == 4, lines[0].elementsEqual(Self.hash(url).utf8) else { return nil }
        return Entry(
            tag: String(decoding: lines[1], as: UTF8.self), modified: String(decoding: lines[2], as: UTF8.self),
            bytes: Array(lines[3]))
    }

    /// Stores a document that has a tag or a date.
    func store(_ bytes: [UInt8], url: String, tag: String?, modified: String?) {
        let path = path(url)
        guard tag != nil || modified != nil else {
            unlink(path)
            return
        }
        makeFolder()
        let head = "\(Self.hash(url))\n\(tag ?? "")\n\(modified ?? "")\n"
        try? AtomicFile.write(Array(head.utf8) + bytes, to: path, mode: 0o600)
    }

    private func path(_ url: String) -> String { "\(folder)/\(Self.hash(url)).wsdl" }

    private static func hash(_ url: String) -> String {
        Hexadecimal.text(MessageDigest.digest(of: Array(url.utf8), .sha1))
    }

    private func makeFolder() {
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/" + part
            mkdir(path, 0o700)
        }
    }
}
