internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import RecordBatch
internal import RowFormats

/// Reads one JSON value per line (NDJSON, JSON Lines, RFC 7464) while the reply is still arriving.
final class LineReader {
    private let exchange: HTTPExchange
    private let reader: JSONRecordReader
    private let limits: ReplyLimits
    private let redactor: HTTPRedactor
    /// The received bytes that are not parsed yet.
    private var rest: [UInt8] = []
    private var isOver = false
    private(set) var count = 0

    /// The number of bytes to read at a time.
    private static let pieceBytes = 1 << 20
    /// The maximum number of rejected lines per batch; the rest follow in the next one.
    private static let maxRejected = 5000

    /// - Parameter fields: Members to add to each record.
    init(_ exchange: HTTPExchange, fields: [(name: String, value: String)], limits: ReplyLimits) throws {
        reader = try JSONRecordReader()
        self.limits = limits
        redactor = try exchange.response().redactor
        self.exchange = exchange
        try reader.addPath(.root)
        reader.setFields(fields)
    }

    /// Whether the media type has one value per line.
    static func isSpoken(_ mediaType: String?) -> Bool {
        let types = [
            "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines",
            "application/json-seq", "application/jsonlines", "application/x-json-stream", "application/stream+json",
        ]
        return mediaType.map(types.contains) ?? false
    }

    /// Writes the next records, and returns whether there may be more.
    ///
    /// Returns nothing if no whole line arrives within the time of a call.
    func read(into writer: RecordBatchWriter, asked: String, location: String?) throws -> (
        hasMore: Bool, rejected: [Page.Rejected]
    ) {
        let end = ContinuousClock.now + RowReader.callTime
        var piece = rest
        rest = []
        var hasLine = piece.contains(0x0A)
        while !isOver, piece.count < Self.pieceBytes || !hasLine {
            guard let chunk = try exchange.nextChunk() else {
                isOver = true
                break
            }
            hasLine = hasLine || chunk.contains(0x0A)
            piece += chunk
            guard hasLine || piece.count < limits.recordBytes else {
                throw BridgeError(
                    .limit, "\(asked): a line is longer than \(limits.recordBytes) bytes",
                    remedy: "check format, or raise max_record_bytes", location: location)
            }
            if ContinuousClock.now >= end { break }
        }
        guard let length = length(of: piece) else {
            rest = piece
            return (true, [])
        }
        rest = Array(piece[length...])
        piece.removeSubrange(length...)
        // RFC 7464 puts a record separator before each value.
        for index in piece.indices where piece[index] == 0x1E { piece[index] = 0x20 }
        writer.limit(recordBytes: limits.recordBytes)
        defer { writer.limit(recordBytes: nil) }
        let rejected = try parse(piece, into: writer)
        return (!isOver || !rest.isEmpty, rejected)
    }

    /// Returns how many bytes to parse: whole lines, up to about a megabyte; nil if no line is whole.
    ///
    /// Unless the time of the call is over, the bytes are cut in the same places however they arrive, so that the same
    /// reply has the same batches again.
    private func length(of bytes: [UInt8]) -> Int? {
        if isOver, bytes.count <= Self.pieceBytes { return bytes.count }
        let end =
            bytes.prefix(Self.pieceBytes).lastIndex(of: 0x0A) ?? bytes.dropFirst(Self.pieceBytes).firstIndex(of: 0x0A)
        return end.map { $0 + 1 } ?? (isOver ? bytes.count : nil)
    }

    private func parse(_ piece: [UInt8], into writer: RecordBatchWriter) throws -> [Page.Rejected] {
        guard piece.contains(where: { $0 > 0x20 }) else { return [] }
        defer { reader.end() }
        let body = HTTPExchange.PaddedBody(piece)
        let before = writer.recordCount
        var rejected: [Page.Rejected] = []
        if let end = sequence(body, into: writer, bytes: ReplyLimits.batchBytes, &rejected),
            rejected.count <= Self.maxRejected
        {
            count += writer.recordCount - before + rejected.count
            // The batch is full: the members that each record gets can make far more of a piece than its own bytes.
            if end < body.count { rest = Array(body.bytes[end..<body.count]) + rest }
            return rejected
        }
        // Some lines are broken or too large: keep the valid ones and report the others.
        writer.clear()
        rejected = []
        var start = 0
        body.bytes.withUnsafeBufferPointer { bytes in
            while start < body.count {
                guard rejected.count < Self.maxRejected, writer.byteCount < ReplyLimits.batchBytes else {
                    rest = Array(bytes[start..<body.count]) + rest
                    break
                }
                let end = bytes[start..<body.count].firstIndex(of: 0x0A) ?? body.count
                let line = bytes[start..<end]
                defer { start = end + 1 }
                guard line.contains(where: { $0 > 0x20 }) else { continue }
                var bad: [Page.Rejected] = []
                if sequence(HTTPExchange.PaddedBody(line), into: writer, bytes: .max, &bad) != nil {
                    rejected += bad.map {
                        Page.Rejected(index: count, reason: $0.reason, representation: $0.representation)
                    }
                } else {
                    writer.abandonRecord()
                    rejected.append(
                        Page.Rejected(
                            index: count, reason: "the line is not JSON: \(reader.failure.message)",
                            representation: redactor.excerpt(of: body.bytes, start..<min(end, start + 4000))))
                }
                count += 1
            }
        }
        return rejected
    }

    /// Writes the records of a text until the batch has about `bytes` bytes.
    ///
    /// - Returns: Where the records end that were read; nil if the text is not JSON.
    private func sequence(
        _ text: HTTPExchange.PaddedBody, into writer: RecordBatchWriter, bytes: Int, _ rejected: inout [Page.Rejected]
    ) -> Int? {
        guard reader.begin(text.bytes, count: text.count, as: .sequence) else { return nil }
        var end = 0
        while true {
            let status = reader.next(into: writer, bytes: bytes)
            if status == .failed { return nil }
            let refused = reader.rejected
            end = max(end, reader.lastRecord?.upperBound ?? 0, refused.last?.range.upperBound ?? 0)
            for record in refused {
                rejected.append(
                    Page.Rejected(
                        index: count + record.index, reason: ReplyLimits.words(record.reason),
                        representation: redactor.excerpt(of: text.bytes, record.range.prefix(4000))))
            }
            if status == .done { return text.count }
            // Not because so many were rejected, but because the batch is full.
            if refused.isEmpty { return end }
        }
    }
}
