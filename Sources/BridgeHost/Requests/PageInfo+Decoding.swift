internal import RecordBatch

extension PageInfo {
    private static let longestCursor = 64 << 10
    private static let mostRejected = 10_000
    private static let mostWarnings = 100
    private static let longestToken = 2 << 20

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
        defer { withExtendedLifetime(batch) {} }
        guard let record = OwnedRecord(batch) else { throw PluginRefusal(reason: "a page that is not one object") }
        var page = PageInfo()
        page.pageEnd = try bool(record, "page_end")
        page.end = try bool(record, "end")
        page.complete = try bool(record, "complete")
        page.location = try text(record, "location").map { log.clean($0, limit: 2000) }
        if let total = try value(record, "total", .int64)?.int64, total >= 0 { page.total = total }
        for value in try value(record, "warnings", .array)?.elements ?? [] {
            guard value.tag == .text else { throw PluginRefusal(reason: "a page whose `warnings` are not text") }
            guard page.warnings.count < mostWarnings else { break }
            page.warnings.append(log.clean(value.string, limit: 1000))
        }
        try page.readRejected(record, log)
        try page.readCursor(record, log)
        try page.readMetadata(record, log)
        try page.readMovement(record, log)
        return page
    }

    private mutating func readRejected(_ record: OwnedRecord, _ log: BridgeLog) throws(PluginRefusal) {
        for value in try Self.value(record, "rejected", .array)?.elements ?? [] {
            guard value.tag == .object, let reason = value["reason"]?.text else {
                throw PluginRefusal(reason: "a page with a `rejected` record that has no reason")
            }
            guard rejected.count < Self.mostRejected else {
                // Refuse the whole page: dropping a record silently would lose it.
                throw PluginRefusal(reason: "a page of more than \(Self.mostRejected) rejected records")
            }
            let representation = value["representation"]?.text ?? ""
            rejected.append(
                RejectedRecord(
                    index: value["index"]?.integer.flatMap { $0 >= 0 ? Int(exactly: $0) : nil },
                    reason: log.clean(reason, limit: 1000),
                    // Redact before truncating, because the rest of a truncated secret would not be recognized.
                    representation: log.redactor.redact(representation).cut(to: 64 << 10)))
        }
    }

    private mutating func readCursor(_ record: OwnedRecord, _ log: BridgeLog) throws(PluginRefusal) {
        guard let text = try Self.text(record, "cursor") else { return }
        guard text.utf8.count <= Self.longestCursor else {
            throw PluginRefusal(reason: "a cursor of \(text.utf8.count) bytes; the limit is \(Self.longestCursor)")
        }
        // The database stores the cursor and must return it unchanged, so a cursor with a secret cannot be stored.
        if log.redactor.redact(text) == text {
            cursor = text
        } else {
            warnings.append("the page's resume point holds a secret and is not kept")
        }
    }

    private mutating func readMetadata(_ record: OwnedRecord, _ log: BridgeLog) throws(PluginRefusal) {
        guard let value = try Self.value(record, "metadata", .object) else { return }
        guard value.isPlain else { throw PluginRefusal(reason: "a page whose `metadata` JSON cannot express") }
        let text = log.redactor.redact(value.json)
        if text.utf8.count <= 64 << 10 {
            metadata = text
        } else {
            warnings.append("the page's metadata of \(text.utf8.count) bytes is not kept")
        }
    }

    /// Decodes the members added in ABI 1.1: changed, deleted and spared objects.
    private mutating func readMovement(_ record: OwnedRecord, _ log: BridgeLog) throws(PluginRefusal) {
        unchanged = try Self.bool(record, "unchanged")
        positional = try Self.bool(record, "positional")
        partial = try Self.bool(record, "partial")
        if let text = try Self.text(record, "token") {
            guard text.utf8.count <= Self.longestToken else {
                throw PluginRefusal(reason: "a token of \(text.utf8.count) bytes; the limit is \(Self.longestToken)")
            }
            // As with the cursor, a token with a secret cannot be stored.
            if log.redactor.redact(text) == text {
                token = text
            } else {
                warnings.append("the walk's token holds a secret and is not kept: the next one is a full one")
            }
        }
        if let value = try Self.value(record, "deleted", .array), value.count > 0 {
            guard value.elements.allSatisfy({ $0.tag == .object }) else {
                throw PluginRefusal(reason: "a page whose `deleted` are not objects")
            }
            let writer = RecordBatchWriter()
            for object in value.elements { writer.copy(object) }
            do {
                deleted = try writer.finish()
            } catch {
                throw PluginRefusal(reason: "a page whose `deleted` break the format: \(error)")
            }
        }
        for value in try Self.value(record, "spared", .array)?.elements ?? [] {
            let whole = value["equals"].flatMap { $0.text ?? $0.integer.map(String.init) }
            guard value.tag == .object, let field = value["field"]?.text, let text = whole ?? value["prefix"]?.text
            else {
                // Ignoring the entry would delete objects that still exist.
                throw PluginRefusal(reason: "a page whose `spared` lack `field`, or `equals` and `prefix`")
            }
            spared.append(SparedObjects(field: field, value: text, isPrefix: whole == nil))
        }
        for value in try Self.value(record, "pushed", .array)?.elements ?? [] {
            if let index = value.integer.flatMap({ Int(exactly: $0) }), index >= 0 { pushed.append(index) }
        }
    }

    private static func value(
        _ record: OwnedRecord, _ member: String, _ tag: BatchValue.Tag
    ) throws(PluginRefusal) -> BatchValue? {
        guard let value = record[member], value.tag != .null else { return nil }
        guard value.tag == tag else { throw PluginRefusal(reason: "a page whose `\(member)` is not \(tag)") }
        return value
    }

    private static func bool(_ record: OwnedRecord, _ member: String) throws(PluginRefusal) -> Bool {
        try value(record, member, .bool)?.bool ?? false
    }

    private static func text(_ record: OwnedRecord, _ member: String) throws(PluginRefusal) -> String? {
        try value(record, member, .text)?.string
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
