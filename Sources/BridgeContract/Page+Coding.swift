package import RecordBatch

/// The members of a page, each named once for both directions.
///
/// Source: bmo_bridge.h, "fetch_next".
private enum Member {
    static let cursor = "cursor"
    static let isPageEnd = "page_end"
    static let isEnd = "end"
    static let isComplete = "complete"
    static let total = "total"
    static let location = "location"
    static let rejected = "rejected"
    static let index = "index"
    static let reason = "reason"
    static let representation = "representation"
    static let warnings = "warnings"
    static let metadata = "metadata"
    static let token = "token"
    static let isUnchanged = "unchanged"
    static let isPositional = "positional"
    static let repeatsObjects = "repeats"
    static let endsListing = "next_listing"
    static let isPartial = "partial"
    static let deleted = "deleted"
    static let skipped = "spared"
    static let field = "field"
    static let equals = "equals"
    static let prefix = "prefix"
    static let pushed = "pushed"
}

extension Page {
    /// Writes the page as one record.
    package func write(to writer: RecordBatchWriter) {
        writer.object {
            writer.member(Member.cursor, cursor)
            writer.member(Member.isPageEnd, isPageEnd)
            writer.member(Member.isEnd, isEnd)
            writer.member(Member.isComplete, isComplete)
            writer.member(Member.total, total.map(Int.init))
            writer.member(Member.location, location)
            writer.key(Member.rejected)
            writer.array {
                for record in rejected {
                    writer.object {
                        writer.member(Member.index, record.index)
                        writer.member(Member.reason, record.reason)
                        writer.member(Member.representation, record.representation)
                    }
                }
            }
            writer.key(Member.warnings)
            writer.array { for warning in warnings { writer.text(warning) } }
            writer.key(Member.metadata)
            writer.object { for (name, value) in metadata { writer.member(name, value) } }
            writeChanges(to: writer)
        }
    }

    /// Writes the members that the contract has since 1.1.
    private func writeChanges(to writer: RecordBatchWriter) {
        if let token { writer.member(Member.token, token) }
        if isUnchanged { writer.member(Member.isUnchanged, true) }
        if isPositional { writer.member(Member.isPositional, true) }
        if repeatsObjects { writer.member(Member.repeatsObjects, true) }
        if endsListing { writer.member(Member.endsListing, true) }
        if isPartial { writer.member(Member.isPartial, true) }
        if !deleted.isEmpty {
            writer.key(Member.deleted)
            writer.array { for object in deleted { object.write(to: writer) } }
        }
        if !skipped.isEmpty {
            writer.key(Member.skipped)
            writer.array {
                for objects in skipped {
                    writer.object {
                        writer.member(Member.field, objects.field)
                        switch objects.match {
                        case .equals(let value): writer.member(Member.equals, value)
                        case .prefix(let value): writer.member(Member.prefix, value)
                        }
                    }
                }
            }
        }
        if !pushed.isEmpty {
            writer.key(Member.pushed)
            writer.array { for index in pushed { writer.int64(Int64(index)) } }
        }
    }

    /// Reads a page as it is: its texts are not redacted, and its lists may be long.
    ///
    /// ``metadata`` stays empty, because a bridge in another language may write more than texts: see
    /// ``withMetadata(of:_:)``.
    package init(_ batch: RecordBatch) throws(MessageFault) {
        guard batch.count == 1, batch[0].tag == .object else { throw MessageFault("a page that is not one object") }
        let record = batch[0]
        self.init(
            cursor: try record.text(Member.cursor), isPageEnd: try record.flag(Member.isPageEnd),
            isEnd: try record.flag(Member.isEnd), isComplete: try record.flag(Member.isComplete),
            location: try record.text(Member.location))
        if let count = try record.value(Member.total, .int64)?.int64, count >= 0 { total = count }
        for value in try record.list(Member.warnings) {
            guard value.tag == .text else { throw MessageFault("a page whose `\(Member.warnings)` are not text") }
            warnings.append(value.string)
        }
        for value in try record.list(Member.rejected) {
            guard value.tag == .object, let reason = value[Member.reason]?.text else {
                throw MessageFault("a page with a `\(Member.rejected)` record that has no reason")
            }
            rejected.append(
                Rejected(
                    index: value[Member.index]?.integer.flatMap { $0 >= 0 ? Int(exactly: $0) : nil }, reason: reason,
                    representation: value[Member.representation]?.text ?? ""))
        }
        _ = try record.value(Member.metadata, .object)
        isUnchanged = try record.flag(Member.isUnchanged)
        isPositional = try record.flag(Member.isPositional)
        repeatsObjects = try record.flag(Member.repeatsObjects)
        endsListing = try record.flag(Member.endsListing)
        isPartial = try record.flag(Member.isPartial)
        token = try record.text(Member.token)
        for value in try record.list(Member.deleted) {
            guard value.tag == .object else { throw MessageFault("a page whose `\(Member.deleted)` are not objects") }
            deleted.append(BridgeOptions(batch: batch, value: value))
        }
        for value in try record.list(Member.skipped) {
            let whole = value[Member.equals].flatMap { $0.text ?? $0.integer.map(String.init) }
            guard value.tag == .object, let field = value[Member.field]?.text,
                let match = whole.map(Skipped.Match.equals) ?? value[Member.prefix]?.text.map(Skipped.Match.prefix)
            else {
                // Ignoring the entry would delete objects that still exist.
                throw MessageFault(
                    "a page whose `\(Member.skipped)` lack `\(Member.field)`, or `\(Member.equals)` and `\(Member.prefix)`"
                )
            }
            skipped.append(Skipped(field: field, match))
        }
        for value in try record.list(Member.pushed) {
            if let index = value.integer.flatMap({ Int(exactly: $0) }), index >= 0 { pushed.append(index) }
        }
        withExtendedLifetime(batch) {}
    }

    /// Calls `body` with the metadata of a page's bytes; nil for none.
    package static func withMetadata<Result, Failure: Error>(
        of batch: RecordBatch, _ body: (BatchValue) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        defer { withExtendedLifetime(batch) {} }
        guard batch.count == 1, let value = batch[0][Member.metadata], value.tag == .object else { return nil }
        return try body(value)
    }
}

extension BatchValue {
    /// Returns a member of this object; nil for a missing one and for null.
    fileprivate func value(_ member: String, _ tag: Tag) throws(MessageFault) -> BatchValue? {
        guard let value = self[member], value.tag != .null else { return nil }
        guard value.tag == tag else { throw MessageFault("a page whose `\(member)` is not \(tag)") }
        return value
    }

    fileprivate func flag(_ member: String) throws(MessageFault) -> Bool { try value(member, .bool)?.bool ?? false }

    fileprivate func text(_ member: String) throws(MessageFault) -> String? { try value(member, .text)?.string }

    fileprivate func list(_ member: String) throws(MessageFault) -> [BatchValue] {
        try value(member, .array).map { Array($0.elements) } ?? []
    }
}
