internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// The replies with the files of a job.
extension ExportSource {
    /// What came of the request for a file.
    enum Opened {
        /// The rows can be read.
        case rows
        /// The file has no content, and so no rows.
        case nothing
        /// The link was refused, and the job is asked for a new one.
        case refused
    }

    /// Returns why a file may lack rows, by the status of its reply; nil if it is whole.
    ///
    /// - Throws: ``BridgeError`` if the reply is a part of the file's bytes, which may end within a row.
    func doubt(about response: HTTPResponse, _ fileName: String, location: String) throws -> String? {
        if response.status == 202 {
            return
                "\(fileName): the status 202 (Accepted) says that the remote has not finished the file: its records are imported, but "
                + "missing ones do not count as deleted; sync again later"
        }
        guard response.status == 206 else { return nil }
        let range = response.header("content-range")
        if let range = range.flatMap(ByteRange.init) {
            if range.isWhole { return nil }
            throw BridgeError(
                .malformed, "\(fileName): the reply 206 has a part of the file, \(range.words)",
                remedy: "have the server send the whole file, since bmo asks for no part", location: location)
        }
        return
            "\(fileName): the status 206 (Partial Content) says that the reply is a part of the file: its records are imported, but "
            + "missing ones do not count as deleted"
    }
}

/// The bytes that a part has, by its Content-Range (RFC 9110, section 14.4): `bytes 0-9/1000`.
private struct ByteRange {
    private let first: Int
    private let last: Int
    /// The length of the whole; nil if it is not known.
    private let length: Int?

    /// - Returns: nil if the text is not a range of bytes.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        let bounds = parts[0].split(separator: "-").map { Int($0) }
        guard parts.count == 2, bounds.count == 2, let first = bounds[0], let last = bounds[1] else { return nil }
        self.first = first
        self.last = last
        length = Int(parts[1])
    }

    /// Whether these are all bytes.
    var isWhole: Bool { first == 0 && last == length.map { $0 - 1 } }

    var words: String { "bytes \(first) to \(last) of \(length.map(String.init) ?? "an unknown number")" }
}

extension JSONTree {
    /// Whether an element that the path selects lacks the rest of the path, or has null or an empty text there.
    ///
    /// A list that is null has no elements.
    func hasGap(at path: JSONPath) -> Bool { hasGap(path.segments[...], isElement: false) }

    private func hasGap(_ path: ArraySlice<JSONPath.Segment>, isElement: Bool) -> Bool {
        guard let segment = path.first else {
            let ends = elements ?? [self]
            return ends.contains(.text("")) || (isElement || elements != nil) && ends.contains(.null)
        }
        guard segment.selectsSeveral else {
            return step(segment)?.first.map { $0.hasGap(path.dropFirst(), isElement: isElement) } ?? isElement
        }
        if self == .null { return false }
        guard elements != nil || isObject, let selected = step(segment) else { return isElement }
        return selected.contains { $0.hasGap(path.dropFirst(), isElement: true) }
    }
}
