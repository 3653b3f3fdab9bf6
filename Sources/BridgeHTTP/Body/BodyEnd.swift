/// Watches the raw bytes of a coded body for the end of its data.
///
/// libcurl accepts a truncated body as complete if only the end of the connection, or a proxy that did not notice,
/// marks its end.
protocol BodyEnd {
    /// The number of body bytes received, without framing.
    var count: Int { get }
    mutating func append(_ bytes: UnsafeRawBufferPointer)
    /// Whether the body ended before its data, which were decoded to `size` bytes.
    func isCut(after size: Int) -> Bool
}

/// Detects the end of the data of one content coding.
protocol DataScanner: AnyObject {
    /// Whether the end of the data was seen, with nothing incomplete after it.
    var isOver: Bool { get }
    func scan(_ bytes: UnsafeRawBufferPointer)
}

/// The end of a body whose data mark their own end.
struct CodedEnd: BodyEnd {
    private(set) var count = 0
    private var chunks: ChunkScanner?
    private let scanner: any DataScanner

    /// - Parameter isChunked: Whether the body uses chunked transfer coding.
    init(_ scanner: any DataScanner, isChunked: Bool) {
        self.scanner = scanner
        chunks = isChunked ? ChunkScanner() : nil
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard chunks != nil else { return keep(bytes) }
        var rest = bytes[...]
        while let data = chunks?.next(&rest) { keep(UnsafeRawBufferPointer(rebasing: data)) }
    }

    private mutating func keep(_ bytes: UnsafeRawBufferPointer) {
        count += bytes.count
        scanner.scan(bytes)
    }

    func isCut(after size: Int) -> Bool { count > 0 && !scanner.isOver }
}

/// The content codings (RFC 9110, section 8.4.1) of a reply, and the scanners for their ends.
enum ContentCoding {
    /// Returns the outermost coding, which was applied last and ends with the body, by the fields of the head; nil for
    /// none.
    static func outermost(_ fields: [(name: String, value: String)]) -> (name: String, isOnly: Bool)? {
        let lists = fields.filter { $0.name.isSameField(as: "content-encoding") }.map { $0.value.lowercased() }
        let names: [String] = lists.flatMap { list in
            list.split(separator: ",").map { name in String(name.filter { $0 != " " && $0 != "\t" }) }
        }
        let all = names.filter { !$0.isEmpty && $0 != "identity" }
        return all.last.map { ($0, all.count == 1) }
    }

    /// Whether one coding is inside another: libcurl does not say whether the inner data reached their end.
    static func isNested(_ fields: [(name: String, value: String)]) -> Bool {
        if let coding = outermost(fields), !coding.isOnly { return true }
        // Transfer codings other than chunked are not watched (RFC 9112, section 6.1).
        return fields.contains { field in
            guard field.name.isSameField(as: "transfer-encoding") else { return false }
            return field.value.lowercased().split(separator: ",").contains { part in
                !["chunked", "identity", ""].contains(part.filter { $0 != " " && $0 != "\t" })
            }
        }
    }

    /// Returns the watcher for a body of this coding; nil if its end cannot be detected.
    static func end(of coding: (name: String, isOnly: Bool), isChunked: Bool) -> (any BodyEnd)? {
        switch coding.name {
        // The trailer counts decoded bytes, which is only comparable if libcurl undoes no other coding.
        case "gzip" where coding.isOnly, "x-gzip" where coding.isOnly: return GzipEnd(isChunked: isChunked)
        case "gzip", "x-gzip": return CodedEnd(InflateScanner(.gzip), isChunked: isChunked)
        case "deflate": return CodedEnd(InflateScanner(.deflate), isChunked: isChunked)
        case "zstd": return CodedEnd(ZstandardScanner(), isChunked: isChunked)
        case "br": return BrotliScanner().map { CodedEnd($0, isChunked: isChunked) }
        default: return nil
        }
    }
}
