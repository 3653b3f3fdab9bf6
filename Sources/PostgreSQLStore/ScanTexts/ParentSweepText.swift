internal import RecordBatch
internal import StoreContract

/// What the scans of a range of parents have found missing, as JSON:
/// `{"total": 9, "strangers": [7], "scopes": [{"entity": ..., "parent": ..., "total": 3, "rows": [1, 2], ...}]}`.
enum ParentSweepText {
    /// Returns the text.
    static func json(_ sweep: ParentSweep<Int64>.Saved) -> String {
        RecordBatchWriter.json { writer in
            writer.member("total", sweep.total)
            writer.key("strangers")
            writer.array { for row in sweep.strangers { writer.int64(row) } }
            writer.key("scopes")
            writer.array {
                for scope in sweep.scopes { writer.object { write(scope, to: writer) } }
            }
        }
    }

    private static func write(_ scope: ParentSweep<Int64>.SavedScope, to writer: RecordBatchWriter) {
        writer.member("entity", scope.scope.entity)
        writer.member("source", scope.scope.source)
        writer.member("parent", scope.scope.parent)
        writer.member("total", scope.total)
        writer.key("rows")
        writer.array { for row in scope.rows { writer.int64(row) } }
        guard let cursor = scope.cursor else { return }
        writer.member("token", cursor.token)
        writer.member("newest", cursor.newest.map { JSONText.value($0.local) })
        writer.member("newest_remote", cursor.newest?.remote)
        writer.member("request", cursor.request)
        writer.member("full_at", cursor.fullAt)
    }

    /// Reads the text.
    ///
    /// - Throws: An error of the parser if it is not JSON.
    static func saved(_ text: String) throws -> ParentSweep<Int64>.Saved {
        let batch = try JSONParser.batch(text)
        return withExtendedLifetime(batch) {
            var saved = ParentSweep<Int64>.Saved()
            guard batch.count == 1 else { return saved }
            saved.total = Int(batch[0]["total"]?.integer ?? 0)
            saved.strangers = batch[0]["strangers"]?.elements.compactMap(\.integer) ?? []
            saved.scopes = batch[0]["scopes"]?.elements.map(scope) ?? []
            return saved
        }
    }

    private static func scope(_ value: BatchValue) -> ParentSweep<Int64>.SavedScope {
        let scope = ScanScope(
            entity: value["entity"]?.text ?? "", source: value["source"]?.text ?? "",
            parent: value["parent"]?.text ?? "")
        let cursor = value["request"]?.text.map { request in
            ScanCursor(
                token: value["token"]?.text,
                newest: Watermark(json: value["newest"]?.text, remote: value["newest_remote"]?.text),
                request: request, fullAt: value["full_at"]?.text ?? "")
        }
        return ParentSweep<Int64>.SavedScope(
            scope: scope, cursor: cursor, rows: value["rows"]?.elements.compactMap(\.integer) ?? [],
            total: Int(value["total"]?.integer ?? 0))
    }
}
