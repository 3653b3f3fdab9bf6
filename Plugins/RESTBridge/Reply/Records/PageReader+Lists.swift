internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import RecordBatch

/// Lists that are read at once, beside the records.
extension PageReader {
    /// Returns the objects that a list of its own in the page reports as deleted.
    ///
    /// A value in place of an object becomes the member `@value`, so that the host says which key it lacks.
    ///
    /// - Throws: ``BridgeError`` if the path leads to anything but a list or an object: the token must not go on without
    ///   these deletions.
    func listedDeletions() throws -> [BridgeOptions] {
        guard let path = section.incremental?.deleted else { return [] }
        let batch: RecordBatch?
        do {
            batch = try Self.records(at: path, in: body, takesAny: true, isNeeded: true, limits: limits)
        } catch let error as BridgeError {
            throw located(error)
        }
        guard let batch else { return [] }
        return (0..<batch.count).map { index in
            let value = batch[index]
            guard value.tag != .object else { return BridgeOptions(copying: value) }
            return BridgeOptions { writer in
                writer.key("@value")
                writer.copy(value)
            }
        }
    }

    /// Returns all records at a path at once, or none if the path leads nowhere.
    ///
    /// - Parameters:
    ///   - takesAny: Whether values other than objects count too.
    ///   - isNeeded: Whether a value at the path that is not a list or an object is an error.
    static func records(
        at path: JSONPath, in body: HTTPExchange.PaddedBody, takesAny: Bool = false, isNeeded: Bool = false,
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
        if isNeeded, status == .failed, reader.failure.fault != .noRecords {
            throw BridgeError(
                .malformed, "the reply has no list of objects at \(path): \(reader.failure.message)",
                remedy: "let the path lead to a list of objects that have the key")
        }
        return status == .done ? try writer.finish() : nil
    }
}
