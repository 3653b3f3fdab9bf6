package import RecordBatch

/// The members of a fetch request, each named once for both directions.
///
/// Source: bmo_bridge.h, "fetch_open".
private enum Member {
    static let entity = "entity"
    static let section = "section"
    static let cursor = "cursor"
    static let pageSize = "page_size"
    static let token = "token"
    static let since = "since"
    static let sinceTime = "since_time"
    static let newestFirst = "newest_first"
    static let parent = "parent"
    static let readsOne = "one"
    static let readsDetails = "details"
    static let filters = "filters"
    static let attribute = "attribute"
    static let path = "path"
    static let comparison = "comparison"
    static let value = "value"
    static let explains = "explain"
    static let readOne = "read_one"
    static let written = "written"
    static let fields = "fields"
    static let fieldPaths = "field_paths"
    static let keyPaths = "key_paths"
    static let surroundings = "surroundings"
    static let watches = "watch"
    static let wait = "wait"
    static let userInfo = "user_info"
    static let parameters = "parameters"
    static let validates = "judge"
    static let names = "names"
    static let key = "key"
    static let nested = "nested"
    static let isWritable = "writable"
    static let inherited = "inherited"
}

extension FetchRequest {
    /// Encodes the request, continuing at `cursor`.
    package func batch(cursor: String?) throws(RecordBatchError) -> RecordBatch {
        let writer = RecordBatchWriter()
        writer.object {
            writer.member(Member.entity, entity)
            writer.key(Member.section)
            section.write(to: writer)
            writer.member(Member.cursor, cursor)
            writer.member(Member.pageSize, pageSize)
            if let token { writer.member(Member.token, token) }
            if let since { writer.member(Member.since, since) }
            if let sinceTime { writer.member(Member.sinceTime, sinceTime) }
            if newestFirst { writer.member(Member.newestFirst, true) }
            if let parent {
                writer.key(Member.parent)
                parent.write(to: writer)
            }
            if readsOne { writer.member(Member.readsOne, true) }
            if readsDetails { writer.member(Member.readsDetails, true) }
            if !filters.isEmpty {
                writer.key(Member.filters)
                writer.array { for filter in filters { filter.write(to: writer) } }
            }
            if explains { writer.member(Member.explains, true) }
            if let readOne {
                writer.key(Member.readOne)
                readOne.write(to: writer)
            }
            if let writtenPaths {
                writer.key(Member.written)
                writer.array {
                    for path in writtenPaths { writer.object { writer.texts(Member.path, path) } }
                }
            }
            if let fields { writer.texts(Member.fields, fields.sorted()) }
            if let fieldPaths {
                writer.key(Member.fieldPaths)
                writer.array {
                    for path in fieldPaths { writer.object { writer.texts(Member.path, path) } }
                }
            }
            if !keyPaths.isEmpty { writer.texts(Member.keyPaths, keyPaths) }
            if !surroundings.isEmpty { writer.texts(Member.surroundings, surroundings) }
            if let userInfo {
                writer.key(Member.userInfo)
                userInfo.write(to: writer)
            }
            if let parameters {
                writer.key(Member.parameters)
                parameters.write(to: writer)
            }
            if let watchMilliseconds {
                writer.member(Member.watches, true)
                writer.member(Member.wait, watchMilliseconds)
            }
            if validates {
                writer.member(Member.validates, true)
                if let names {
                    writer.key(Member.names)
                    names.write(to: writer)
                }
                writer.member(Member.isWritable, isWritable)
                if !inheritedMembers.isEmpty { writer.texts(Member.inherited, inheritedMembers) }
            }
        }
        return try writer.finish()
    }

    /// Reads a request.
    package init(_ record: BridgeOptions) {
        self.init(entity: record.string(Member.entity) ?? "", section: record.object(Member.section) ?? .empty)
        cursor = record.string(Member.cursor)
        pageSize = record.integer(Member.pageSize)
        token = record.string(Member.token)
        since = record.string(Member.since)
        sinceTime = record.string(Member.sinceTime)
        newestFirst = record.bool(Member.newestFirst) ?? false
        parent = record.object(Member.parent)
        readsOne = record.bool(Member.readsOne) ?? false
        readsDetails = record.bool(Member.readsDetails) ?? false
        filters = record.objects(Member.filters).compactMap(Filter.init)
        explains = record.bool(Member.explains) ?? false
        surroundings = record.strings(Member.surroundings)
        if record.has(Member.fields) { fields = Set(record.strings(Member.fields)) }
        if record.has(Member.fieldPaths) {
            fieldPaths = record.objects(Member.fieldPaths).map { $0.strings(Member.path) }
        }
        keyPaths = record.strings(Member.keyPaths)
        if record.bool(Member.watches) ?? false { watchMilliseconds = record.integer(Member.wait) ?? 60_000 }
        userInfo = record.object(Member.userInfo)
        parameters = record.object(Member.parameters)
        readOne = record.object(Member.readOne)
        if record.has(Member.written) {
            writtenPaths = record.objects(Member.written).map { $0.strings(Member.path) }
        }
        validates = record.bool(Member.validates) ?? false
        names = record.object(Member.names).map(EntityNames.init)
        isWritable = record.bool(Member.isWritable) ?? false
        inheritedMembers = record.strings(Member.inherited)
    }
}

extension FetchRequest.Filter {
    fileprivate func write(to writer: RecordBatchWriter) {
        writer.object {
            writer.member(Member.attribute, attribute)
            writer.member(Member.path, path)
            writer.member(Member.comparison, comparison.rawValue)
            writer.member(Member.value, value)
        }
    }

    /// Reads a condition; nil for a comparison that a later version of the contract has, which the host then applies.
    fileprivate init?(_ record: BridgeOptions) {
        guard let attribute = record.string(Member.attribute),
            let comparison = record.string(Member.comparison).flatMap(Comparison.init)
        else { return nil }
        self.init(
            attribute: attribute, path: record.string(Member.path) ?? attribute, comparison: comparison,
            value: record.string(Member.value))
    }
}

extension EntityNames {
    fileprivate func write(to writer: RecordBatchWriter) {
        writer.object {
            writer.texts(Member.fields, fields)
            writer.texts(Member.key, key)
            writer.texts(Member.nested, nested)
        }
    }

    fileprivate init(_ record: BridgeOptions) {
        self.init(
            fields: record.strings(Member.fields), key: record.strings(Member.key),
            nested: record.strings(Member.nested))
    }
}

extension RecordBatchWriter {
    /// Writes a member that is an array of texts.
    fileprivate func texts(_ name: String, _ texts: [String]) {
        member(name, array: { for text in texts { self.text(text) } })
    }
}
