internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import RecordBatch

/// Lists that are read at once, beside the records.
extension PageReader {
    /// Returns the objects that a list of its own in the page reports as deleted.
    func listedDeletions() throws -> [BridgeOptions] {
        guard let path = section.incremental?.deleted else { return [] }
        guard let batch = try Self.records(at: path, in: body, limits: limits) else { return [] }
        return (0..<batch.count).map { BridgeOptions(copying: batch[$0]) }
    }

    /// Returns all records at a path at once, or none if the path leads nowhere.
    ///
    /// - Parameter takesAny: Whether values other than objects count too.
    static func records(
        at path: JSONPath, in body: HTTPExchange.PaddedBody, takesAny: Bool = false,
        limits: ReplyLimits = ReplyLimits()
    ) throws -> RecordBatch? {
        let reader = try JSONRecordReader()
        try reader.addPath(path)
        if takesAny { reader.acceptAnyValue() }
        reader.limit(bytes: limits.bodyBytes)
        let writer = RecordBatchWriter()
        writer.limit(bytes: limits.listMemory)
        let status = reader.begin(body.bytes, count: body.count) ? reader.next(into: writer) : .failed
        let reasons = reader.rejected.map { ReplyLimits.words($0.reason) }
        // A list needed as a whole is useless in part.
        if let reason = reasons.first(where: { $0.contains(" more than ") })
            ?? (status == .more ? reasons.first : nil)
        {
            throw BridgeError(
                .limit, "the value at \(path) is too large to hold at once: \(reason)",
                remedy: "request smaller pages")
        }
        return status == .done ? try writer.finish() : nil
    }
}
