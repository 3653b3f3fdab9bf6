internal import BridgeHTTP
internal import BridgeJSON
internal import RecordBatch

/// The object before the list of records in a root array, such as World Bank's `[{"page": 1, "pages": 5}, [...]]`.
///
/// It is surveyed like the root of a reply, and the list like a member of it.
enum ListHead {
    /// The path of the list in such a survey.
    static let records = JSONPath(names: ["[1]"])

    private static let place = "$[0]"
    private static let maxBytes = 1 << 20

    /// Surveys the head of a reply.
    ///
    /// - Returns: nil if the records are elsewhere, or the first element is not an object.
    static func survey(_ body: HTTPExchange.PaddedBody, before records: JSONPath?) -> ReplySurvey? {
        guard case .index(let index)? = records?.segments.first, index > 0,
            let path = try? JSONPath(place, option: "records"), JSONScalar.read([path], in: body) == [.object],
            let reader = try? JSONRecordReader(), (try? reader.addPath(path)) != nil
        else { return nil }
        let writer = RecordBatchWriter()
        writer.limit(bytes: maxBytes)
        guard reader.begin(body.bytes, count: body.count), reader.next(into: writer) == .done,
            let batch = try? writer.finish(), batch.count == 1
        else { return nil }
        return ReplySurvey(HTTPExchange.PaddedBody(Array(batch[0].json.utf8)))
    }

    /// Returns a path of the survey, or a sentence that begins with one, as one of the reply.
    static func inReply(_ path: String) -> String {
        path.hasPrefix("$.") || path.hasPrefix("$[") ? place + path.dropFirst() : path
    }
}
