internal import BridgeContract
internal import RecordBatch

extension PageInfo {
    private static let maxCursorLength = 64 << 10
    private static let maxRejected = 10_000
    private static let maxWarnings = 100
    private static let maxTokenLength = 2 << 20

    /// Decodes the page in a bridge's bytes.
    ///
    /// The error is the reason why they are invalid.
    ///
    /// Source: bmo_bridge.h, "fetch_next".
    static func decode(_ bytes: ForeignBytes?, log: BridgeLog, limit: Int) throws(PluginRefusal) -> PageInfo {
        guard let bytes else { throw PluginRefusal(reason: "no page") }
        guard bytes.bytes.count <= limit else {
            throw PluginRefusal(reason: "a page of \(bytes.bytes.count) bytes; the limit is \(limit)")
        }
        let batch: RecordBatch
        do {
            batch = try bytes.batch()
        } catch {
            throw PluginRefusal(reason: "an unreadable page: \(error)")
        }
        let raw: Page
        do {
            raw = try Page(batch)
        } catch {
            throw PluginRefusal(reason: error.reason)
        }
        var page = PageInfo()
        page.pageEnd = raw.isPageEnd
        page.end = raw.isEnd
        page.complete = raw.isComplete
        page.location = raw.location.map { log.clean($0, limit: 2000) }
        page.total = raw.total
        page.warnings = raw.warnings.prefix(maxWarnings).map { log.clean($0, limit: 1000) }
        page.unchanged = raw.isUnchanged
        page.positional = raw.isPositional
        page.repeatsObjects = raw.repeatsObjects
        page.endsListing = raw.endsListing
        page.partial = raw.isPartial
        page.pushed = raw.pushed
        page.skipped = raw.skipped.map { skipped in
            switch skipped.match {
            case .equals(let value): SkippedObjects(field: skipped.field, value: value, isPrefix: false)
            case .prefix(let value): SkippedObjects(field: skipped.field, value: value, isPrefix: true)
            }
        }
        try page.takeRejected(raw.rejected, log)
        try page.takeCursor(raw.cursor, log)
        try Page.withMetadata(of: batch) { value throws(PluginRefusal) in try page.takeMetadata(value, log) }
        try page.takeToken(raw.token, log)
        try page.takeDeleted(raw.deleted)
        return page
    }

    private mutating func takeRejected(_ records: [Page.Rejected], _ log: BridgeLog) throws(PluginRefusal) {
        guard records.count <= Self.maxRejected else {
            // Refuse the whole page: dropping a record silently would lose it.
            throw PluginRefusal(reason: "a page of more than \(Self.maxRejected) rejected records")
        }
        rejected = records.map { record in
            RejectedRecord(
                index: record.index, reason: log.clean(record.reason, limit: 1000),
                // Redact before truncating, because the rest of a truncated secret would not be recognized.
                representation: log.redactor.redact(record.representation).cut(to: 64 << 10))
        }
    }

    private mutating func takeCursor(_ text: String?, _ log: BridgeLog) throws(PluginRefusal) {
        cursor = try unchanged(
            text, log, "a cursor", limit: Self.maxCursorLength,
            ifSecret: "the page's resume point holds a secret and is not kept")
    }

    private mutating func takeToken(_ text: String?, _ log: BridgeLog) throws(PluginRefusal) {
        token = try unchanged(
            text, log, "a token", limit: Self.maxTokenLength,
            ifSecret: "the scan's token holds a secret and is not kept: the next one is a full one")
    }

    /// Returns a text that the database stores and must return unchanged, so one with a secret cannot be stored.
    private mutating func unchanged(
        _ text: String?, _ log: BridgeLog, _ name: String, limit: Int, ifSecret warning: String
    ) throws(PluginRefusal) -> String? {
        guard let text else { return nil }
        guard text.utf8.count <= limit else {
            throw PluginRefusal(reason: "\(name) of \(text.utf8.count) bytes; the limit is \(limit)")
        }
        if log.redactor.redact(text) == text { return text }
        warnings.append(warning)
        return nil
    }

    private mutating func takeMetadata(_ value: BatchValue, _ log: BridgeLog) throws(PluginRefusal) {
        guard value.isPlain else { throw PluginRefusal(reason: "a page whose `metadata` JSON cannot express") }
        let text = log.redactor.redact(value.json)
        if text.utf8.count <= 64 << 10 {
            metadata = text
        } else {
            warnings.append("the page's metadata of \(text.utf8.count) bytes is not kept")
        }
    }

    private mutating func takeDeleted(_ objects: [BridgeOptions]) throws(PluginRefusal) {
        guard !objects.isEmpty else { return }
        let writer = RecordBatchWriter()
        for object in objects { object.write(to: writer) }
        do {
            deleted = try writer.finish()
        } catch {
            throw PluginRefusal(reason: "a page whose `deleted` break the format: \(error)")
        }
    }
}

extension BatchValue {
    /// Whether every time in this value can be written as text, which requires a year of four digits.
    fileprivate var isPlain: Bool {
        switch tag {
        case .timestamp: (-62_135_596_800_000_000..<253_402_300_800_000_000).contains(int64)
        case .array, .object: (0..<count).allSatisfy { self[$0].isPlain }
        default: true
        }
    }
}
