internal import BridgePaging
internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import RecordBatch

/// Reads the JSON of successive pages into batches.
final class PageReader {
    let reader: JSONRecordReader
    let section: RESTSection
    let records: JSONPath
    private var places = PagePlaces()
    /// The paths of signs that a page lacks records.
    let signs: [JSONPath]
    private let shapes: Bool
    /// Builds records from nested arrays if the host reads their enclosing objects, or nil if the JSON reader handles
    /// them.
    var nested: NestedRows?
    /// The number of outermost enclosing objects whose rows were written.
    private var nestedCount = 0
    /// How far the rows of the next one were written.
    private var nestedRows = NestedRows.Progress()
    /// Whether an enclosing object read so far has a list of records.
    var nestedFound = false
    private var shaper: RecordShaper?
    /// The column names, if the records are arrays.
    private var columns: [String]?
    /// The number of rows on the page that contained the column names.
    private var nameRows = 0
    /// The number of the page's rows so far, with the column names.
    private var rowCount = 0
    /// Whether the page has no place for records and indicates an empty listing.
    private(set) var isBare = false
    /// Whether the page has no place for records, and a rule of the section accepts that.
    private(set) var lacksRecords = false
    /// Whether connections around the records, inside a list of others, have more records than the page.
    private(set) var hasUnreadRecords = false
    /// Members to add to each record of the page.
    private var fields: [(name: String, value: String)] = []
    /// The objects that the records since the last batch mark as deleted.
    private var removed: DeletedObjects
    /// What the JSON reader has read and that is not written as records yet, and the index of the next one.
    private var unwritten: (batch: RecordBatch, next: Int)?
    /// Whether the page has more records than the JSON reader has read.
    private var hasMore = false
    /// Warnings about the pages so far.
    private(set) var warnings: [String] = []
    private let scratch = RecordBatchWriter()
    let limits: ReplyLimits
    private(set) var body = HTTPExchange.PaddedBody.empty
    /// The request and the origin of the page, for messages.
    var asked = ""
    var response: HTTPResponse?

    init(_ section: RESTSection, limits: ReplyLimits = ReplyLimits()) throws {
        reader = try JSONRecordReader()
        reader.limit(bytes: limits.bodyBytes)
        scratch.limit(limits)
        self.limits = limits
        self.section = section
        removed = DeletedObjects(keyPaths: section.keyPaths)
        nested = NestedRows(section.records, wanted: section.surroundings)
        records = nested?.outer ?? section.records ?? .root
        shapes = section.preset?.shapesRecords == true
        try reader.addPath(records)
        if section.columns != nil { reader.acceptAnyValue() }
        let paging = section.paging
        let wanted =
            [
                paging.next, paging.total, paging.pages, paging.hasMore, paging.done, paging.base,
                section.incremental?.token, section.statedTotal, section.countedTotal,
                ReplyFacts.relation(of: paging.total),
            ]
            + section.metadata.map(\.place)
        signs = PartialFailure.paths(beside: records, preset: section.preset)
        for case .body(let path) in wanted.compactMap(\.self) { try places.add(path, to: reader) }
        for path in signs { try places.add(path, to: reader) }
    }

    /// Starts a page.
    func begin(_ body: HTTPExchange.PaddedBody, _ response: HTTPResponse, asked: String) throws {
        self.body = body
        self.response = response
        self.asked = asked
        let isPage = RemoteMessage.isPage(Array(body.bytes.prefix(min(body.count, 512))), mediaType: response.mediaType)
        nameRows = 0
        rowCount = 0
        places.begin()
        nestedCount = 0
        nestedFound = false
        isBare = false
        lacksRecords = false
        hasUnreadRecords = false
        unwritten = nil
        nestedRows = NestedRows.Progress()
        removed = DeletedObjects(keyPaths: section.keyPaths)
        fields = section.recordFields(response)
        nested?.fields = fields
        reader.setFields(fields)
        let isAccepted = reader.begin(body.bytes, count: body.count)
        if !isAccepted || isPage { throw failure(isPage: isPage) }
        if shapes, let preset = section.preset { shaper = RecordShaper(preset, included: try included()) }
        // The first record of a later page is always a record, even if it looks like column names.
        if let columns = section.columns, self.columns == nil || !section.namesAreRecord,
            let names = try columns.names(in: body)
        {
            self.columns = names
        }
    }

    /// Writes the page's next records, and returns whether there are more.
    ///
    /// - Parameters:
    ///   - isAccepted: Whether a rule of the section declares the reply a success, regardless of its content.
    ///   - mayLack: Whether that rule accepts a reply without a place for records.
    func read(
        into writer: RecordBatchWriter, isAccepted: Bool = false, mayLack: Bool = false
    ) throws -> (hasMore: Bool, rejected: [Page.Rejected]) {
        if unwritten == nil {
            writer.limit(recordBytes: isDirect ? limits.recordBytes : nil)
            let status = reader.next(into: isDirect ? writer : scratch, bytes: ReplyLimits.batchBytes)
            writer.limit(recordBytes: nil)
            if status == .failed {
                let failure = failure(isPage: false)
                if !isAccepted, let disguised = disguisedFailure() { throw disguised }
                isBare = isEmptyListing
                lacksRecords = !isBare && mayLack && hasNoPlace
                guard isBare || lacksRecords else { throw failure }
                return (false, [])
            }
            if status == .done, reader.recordCount == 0, !isAccepted, let failure = disguisedFailure() {
                throw failure
            }
            hasMore = status == .more
            if !isDirect {
                unwritten = (try scratch.finish(), 0)
                nestedRows.bytes = 0
            }
        }
        guard try writeRest(to: writer) else { return (true, []) }
        let rejected = reader.rejected.map { record in
            let shown = record.range.prefix(4000)
            let text =
                response?.redactor.excerpt(of: body.bytes, shown)
                ?? String(decoding: body.bytes[shown], as: UTF8.self)
            return Page.Rejected(
                index: record.index, reason: ReplyLimits.words(record.reason), representation: text)
        }
        return (hasMore, rejected)
    }

    /// Writes what was read as records; returns false before one that belongs in the next batch.
    private func writeRest(to writer: RecordBatchWriter) throws -> Bool {
        guard let (batch, start) = unwritten else { return true }
        defer { withExtendedLifetime(batch) {} }
        for index in start..<batch.count {
            // A record may take far more than what was read: with the objects around it, or those related to it.
            guard writer.byteCount < ReplyLimits.batchBytes, try write(batch[index], to: writer) else {
                unwritten = (batch, index)
                return false
            }
        }
        unwritten = nil
        return true
    }

    /// Writes a value as records; returns false if some of them, or all, belong in the next batch.
    private func write(_ value: BatchValue, to writer: RecordBatchWriter) throws -> Bool {
        if let shaper { return try write(value, by: shaper, to: writer) }
        if section.columns != nil {
            try writeRow(value, to: writer)
            return true
        }
        return try nested.map { try write(value, of: $0, to: writer) } ?? true
    }

    /// Whether the JSON reader writes records directly into the batch.
    private var isDirect: Bool { shaper == nil && section.columns == nil && nested == nil }

    /// Writes the rows inside an object; returns false if some of them belong in the next batch.
    private func write(_ value: BatchValue, of nested: NestedRows, to writer: RecordBatchWriter) throws -> Bool {
        do {
            if try nested.write(value, index: nestedCount, &nestedRows, to: writer) { nestedFound = true }
        } catch let error as BridgeError {
            throw located(error)
        }
        guard !nestedRows.isFull else { return false }
        nestedRows.advance()
        nestedCount += 1
        return true
    }

    /// Writes a scanned array as an object with the column names.
    private func writeRow(_ row: BatchValue, to writer: RecordBatchWriter) throws {
        guard let columns else {
            throw BridgeError(
                .malformed, "\(asked): the reply has no names at the section's columns",
                remedy: "point columns at a list of texts or of objects with a name, or write the names as a list",
                location: response?.location)
        }
        let isFirst = rowCount == 0
        rowCount += 1
        // Elsewhere, a row that equals the names is data.
        if isFirst, section.mayRepeatNames, RowColumns.areNames(row, columns) {
            nameRows += 1
        } else {
            RowColumns.write(row, names: columns, fields: fields, to: writer)
        }
    }

    /// Shapes and writes a record; returns false if it belongs in the next batch.
    private func write(_ record: BatchValue, by shaper: RecordShaper, to writer: RecordBatchWriter) throws -> Bool {
        if shaper.isTombstone(record) {
            removed.insert(EntityID.tombstone(record, keyPaths: section.keyPaths))
            return true
        }
        guard removed.restore(record) else { return false }
        do {
            try shaper.write(record, to: writer)
            if shaper.isShortened, warnings.isEmpty {
                warnings.append(
                    "\(asked): the resources that it includes take more than \(RecordShaper.generousBytes >> 20) MiB where they are "
                        + "related, so resources that were already written appear as type and id only: include fewer of "
                        + "them, or request smaller pages")
            }
        } catch let error as BridgeError {
            throw located(error)
        }
        return true
    }

    /// Returns an error that names the page.
    func located(_ error: BridgeError) -> BridgeError {
        var error = error
        error.message = "\(asked): \(error.message)"
        error.location = response?.location
        return error
    }

    /// The facts beside the page's records; known once the page was read to its end.
    var said: ReplyFacts { ReplyFacts(section, response, body: value) }

    /// Warns about truncated lists inside the records, which would be taken for complete.
    private func noteConnections() {
        guard case let all = GraphQLConnections.unfinished(in: body), all > 0,
            case let others = all - GraphQLConnections.unfinished(in: body, beside: records), others > 0
        else { return }
        let path = section.records ?? records
        hasUnreadRecords =
            GraphQLConnections.haveRecords(path)
            && others > GraphQLConnections.unfinished(in: body, inside: path, limits: limits)
        guard warnings.isEmpty, !hasUnreadRecords else { return }
        warnings.append(
            "\(asked): connections inside the records have more than the reply contains (hasNextPage is true): their lists are taken as "
                + "they are: request more of each at once (first: 100), or list them as an entity of their own")
    }

    /// Whether one object stands in the place of a filtered list.
    private var holdsOne: Bool {
        let (last, before) = (records.segments.last, records.segments.dropLast())
        guard case .filter? = last else { return false }
        for segment in before { guard case .name = segment else { return false } }
        return JSONScalar.read([records.prefix(before.count)], in: body)?.first == .object
    }

    /// Returns the page's facts about paging.
    ///
    /// A remote pages over the elements of the outermost list: also over those that a filter of the section leaves out,
    /// and over the orders where the records are their lines.
    func facts() -> PageFacts {
        var facts = said.paging()
        let unfiltered = records.withoutFilters
        let outer = unfiltered != nil || section.paging.countsRecords ? records.outermostElements : nil
        let listed = outer.flatMap(wholeList)
        facts.count = (holdsOne ? 1 : listed?.count ?? reader.recordCount) - nameRows
        facts.isBare = isBare
        if section.preset == .graphQL { noteConnections() }
        if let place = section.paging.next, value(place) == .object, let whole = wholeValue(place) {
            facts.next = whole
        }
        switch section.paging.style {
        case .members(let path): facts.next = nextMembers(path)
        case .keyset(let field, let add):
            let last = unfiltered.flatMap { $0 == outer ? listed : wholeList($0) }?.last
            facts.next = lastKey(field, add: add, in: last ?? reader.lastRecord)
        case .none, .automatic, .page, .offset, .nextURL, .linkHeader, .cursor, .code: break
        }
        return facts
    }

    /// Returns the objects that the records since the last call mark as deleted, each one once.
    func tombstones() -> [BridgeOptions] { removed.take() }

    private func included() throws -> RecordBatch? {
        guard section.preset == .jsonAPI else { return nil }
        return try Self.records(at: JSONPath("$.included", option: "preset"), in: body, limits: limits)
    }

    /// Returns the parameters of the next request as a query, or none if this is the last page.
    private func nextMembers(_ path: JSONPath) -> PageFacts.NextValue {
        guard let batch = try? Self.records(at: path, in: body), batch.count == 1, batch[0].tag == .object else {
            return .none
        }
        defer { withExtendedLifetime(batch) {} }
        let pairs = batch[0].members.compactMap { member -> String? in
            guard let value = member.value.text ?? member.value.integer.map(String.init) else { return nil }
            return "\(HTTPURL.encode(member.key))=\(HTTPURL.encode(value))"
        }
        return pairs.isEmpty ? .none : .value(pairs.joined(separator: "&"))
    }

    /// Whether a filter leaves out records of the page.
    var isFiltered: Bool { records.withoutFilters != nil }

    /// Returns the number of records at a path, and the place of the last one's JSON; nil if it leads nowhere.
    private func wholeList(_ path: JSONPath) -> (count: Int, last: Range<Int>?)? {
        guard let all = try? JSONRecordReader(), (try? all.addPath(path)) != nil else { return nil }
        all.acceptAnyValue()
        all.limit(bytes: limits.bodyBytes)
        let writer = RecordBatchWriter()
        writer.limit(limits)
        guard all.begin(body.bytes, count: body.count) else { return nil }
        var status = all.next(into: writer, bytes: ReplyLimits.batchBytes)
        while status == .more {
            writer.clear()
            status = all.next(into: writer, bytes: ReplyLimits.batchBytes)
        }
        return status == .done ? (all.recordCount, all.lastRecord) : nil
    }

    /// Returns the last record's value that the next page begins after.
    private func lastKey(_ field: JSONPath, add: Int, in range: Range<Int>?) -> PageFacts.NextValue {
        guard let range else { return .missing }
        // The bytes may extend past the record; parsing finds its end.
        let text = body.bytes[range]
        let found = JSONScalar.read([field], in: HTTPExchange.PaddedBody(text))?.first
        if case .array = found, section.paging.takesJSON,
            let record = try? JSONTree(parsing: Array(text), what: "a record"),
            let key = field.values(in: record).first
        {
            return .json(key.json)
        }
        guard var key = found?.plain else { return .missing }
        if add != 0 {
            guard let number = Int(key) else { return .unusable("a text") }
            key = String(number &+ add)
        }
        if case .number? = found, section.paging.keepsNumbers { return .json(key) }
        return .value(key)
    }

    /// Releases the page's memory.
    func end() {
        reader.end()
        body = .empty
    }

    func value(_ place: ReplyPlace) -> JSONScalar {
        place.path.map { places.value(at: $0, reader, body) } ?? .missing
    }

    /// Returns a cursor that is an object, if the next request can carry it.
    private func wholeValue(_ place: ReplyPlace) -> PageFacts.NextValue? {
        guard section.paging.takesJSON, case .cursor = section.paging.style, let path = place.path,
            let batch = try? Self.records(at: path, in: body), batch.count == 1
        else { return nil }
        return withExtendedLifetime(batch) { .json(batch[0].json) }
    }
}
