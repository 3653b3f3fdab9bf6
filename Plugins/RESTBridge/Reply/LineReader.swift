internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import CSimdJSON
internal import RecordBatch

/// Reads one JSON value per line (NDJSON, JSON Lines, RFC 7464) while the reply is still coming.
final class LineReader {
    private let exchange: HTTPExchange
    private let reader: OpaquePointer
    /// What came and has no line end yet.
    private var rest: [UInt8] = []
    private var isOver = false
    private(set) var count = 0

    /// How much is taken at a time.
    private static let pieceBytes = 1 << 20

    /// - Parameter fields: Members that each record gets.
    init(_ exchange: HTTPExchange, fields: [(name: String, value: String)]) throws {
        guard let reader = bmo_json_reader_new() else { throw BridgeError(.internal, "no memory for a JSON reader") }
        self.reader = reader
        self.exchange = exchange
        _ = JSONPath.root.add(to: reader)
        RESTSection.set(fields, in: reader)
    }

    deinit { bmo_json_reader_free(reader) }

    /// Whether a media type says that there is a value per line.
    static func isSpoken(_ mediaType: String?) -> Bool {
        let types = [
            "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines",
            "application/json-seq", "application/jsonlines", "application/x-json-stream", "application/stream+json",
        ]
        return mediaType.map(types.contains) ?? false
    }

    /// Writes the next records; whether there may be more.
    func read(into writer: RecordBatchWriter, asked: String, location: String?) throws -> (
        hasMore: Bool, rejected: [Page.Rejected]
    ) {
        var piece = rest
        rest = []
        while !isOver, piece.count < Self.pieceBytes || !piece.contains(0x0A) {
            guard let chunk = try exchange.nextChunk() else {
                isOver = true
                break
            }
            piece += chunk
            guard piece.count < 256 << 20 else {
                throw BridgeError(
                    .limit, "\(asked): a line is longer than 256 MiB", remedy: "check format", location: location)
            }
        }
        if !isOver, let end = piece.lastIndex(of: 0x0A) {
            rest = Array(piece[(end + 1)...])
            piece.removeSubrange((end + 1)...)
        }
        // RFC 7464 puts a record separator before each value.
        for index in piece.indices where piece[index] == 0x1E { piece[index] = 0x20 }
        let rejected = try parse(piece, into: writer)
        return (!isOver, rejected)
    }

    private func parse(_ piece: [UInt8], into writer: RecordBatchWriter) throws -> [Page.Rejected] {
        guard piece.contains(where: { $0 > 0x20 }) else { return [] }
        let body = HTTPExchange.PaddedBody(piece)
        let before = writer.recordCount
        var rejected: [Page.Rejected] = []
        let isWhole = body.bytes.withUnsafeBufferPointer { bytes in
            sequence(bytes.baseAddress, body.count, body.bytes, into: writer, &rejected)
        }
        if isWhole {
            count += writer.recordCount - before + rejected.count
            return rejected
        }
        // Something is broken: the lines that are well stay, and the others are told.
        writer.clear()
        rejected = []
        var start = 0
        body.bytes.withUnsafeBufferPointer { bytes in
            while start < body.count {
                let end = bytes[start..<body.count].firstIndex(of: 0x0A) ?? body.count
                let line = bytes[start..<end]
                defer { start = end + 1 }
                guard line.contains(where: { $0 > 0x20 }) else { continue }
                let copy = HTTPExchange.PaddedBody(line)
                var bad: [Page.Rejected] = []
                let isRead = copy.bytes.withUnsafeBufferPointer {
                    sequence($0.baseAddress, copy.count, copy.bytes, into: writer, &bad)
                }
                if isRead {
                    rejected += bad.map {
                        Page.Rejected(index: count, reason: $0.reason, representation: $0.representation)
                    }
                } else {
                    writer.abandonRecord()
                    var error = bmo_json_error()
                    bmo_json_failure(reader, &error)
                    rejected.append(
                        Page.Rejected(
                            index: count, reason: "the line is not JSON: \(String(cString: error.message))",
                            representation: String(decoding: line.prefix(4000), as: UTF8.self)))
                }
                count += 1
            }
        }
        return rejected
    }

    private func sequence(
        _ data: UnsafePointer<UInt8>?, _ size: Int, _ bytes: [UInt8], into writer: RecordBatchWriter,
        _ rejected: inout [Page.Rejected]
    ) -> Bool {
        guard bmo_json_begin(reader, data, size, BMO_JSON_SEQUENCE) != 0 else { return false }
        while true {
            let status = bmo_json_next(reader, writer.raw, Int.max)
            if status == BMO_JSON_FAILED { return false }
            for index in 0..<bmo_json_rejected_count(reader) {
                var record = bmo_json_rejected()
                bmo_json_rejected_at(reader, index, &record)
                let end = min(record.offset + record.length, size)
                rejected.append(
                    Page.Rejected(
                        index: count + Int(record.index), reason: String(cString: record.reason),
                        representation: String(decoding: bytes[record.offset..<end].prefix(4000), as: UTF8.self)))
            }
            if status == BMO_JSON_DONE { return true }
        }
    }
}
