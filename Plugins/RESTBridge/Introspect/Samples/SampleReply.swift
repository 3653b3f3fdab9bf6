internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import RecordBatch

/// One sample reply of a listing, read with the same parts as in a scan.
struct SampleReply {
    let url: HTTPURL
    let response: HTTPResponse
    let body: HTTPExchange.PaddedBody
    /// The last word of the path, such as `users`.
    let subject: String
    /// The preset that the reply's media type or members indicate.
    private(set) var preset: Preset?
    /// The section's `format`, if the media type does not determine it.
    private(set) var format: String?
    /// The section's `records`, or nil if it is not needed.
    private(set) var recordsPath: String?
    /// The section's `columns`, if the records are arrays.
    private(set) var columns: String?
    private(set) var recordsConfidence = Confidence.high("")
    /// The records as a scan would return them.
    private(set) var records: [JSONTree] = []
    private(set) var notes: [String] = []
    private let survey: ReplySurvey?
    /// The request's body, or nil for a GET.
    let requestBody: JSONTree?

    /// - Throws: ``BridgeError`` if the reply is not JSON or reports a failure.
    init(
        url: HTTPURL, response: HTTPResponse, body: [UInt8], subject: String, requestBody: JSONTree? = nil
    ) throws {
        self.url = url
        self.requestBody = requestBody
        self.response = response
        self.subject = subject
        self.body = HTTPExchange.PaddedBody(body)
        if let lines = Self.lines(body, response) {
            survey = nil
            preset = LineReader.isSpoken(response.mediaType) ? nil : .ndjson
            records = lines
            recordsConfidence = .high("a record per line")
            notes.append("the reply has a record per line (NDJSON)")
            return
        }
        let survey = ReplySurvey(self.body)
        self.survey = survey
        let reply = try Self.tree(body)
        if let survey, let failure = DisguisedFailure(survey, isSingleObject: survey.lists.isEmpty) {
            throw failure.error(asked: "the sample", response: response, body: self.body)
        }
        preset = Self.preset(reply, response)
        try find(reply)
    }

    /// Parses the reply, which may also be an array of arrays, such as a table.
    private static func tree(_ body: [UInt8]) throws -> JSONTree {
        // The record reader would turn each row into an object.
        if body.lazy.filter({ $0 > 0x20 }).prefix(2).elementsEqual("[[".utf8),
            let wrapped = try? JSONTree(
                parsing: Array("{\"rows\":".utf8) + body + Array("}".utf8), what: "the sample",
                limit: DocumentLimit.bytes),
            let rows = wrapped["rows"], SampleTable(rows) != nil
        {
            return rows
        }
        return try JSONTree(parsing: body, what: "the sample", limit: DocumentLimit.bytes)
    }

    // MARK: Format

    private static func lines(_ body: [UInt8], _ response: HTTPResponse) -> [JSONTree]? {
        let lines = body.split { $0 == 0x0A || $0 == 0x1E }.map(Array.init).filter { line in
            line.contains { $0 > 0x20 }
        }
        guard
            LineReader.isSpoken(response.mediaType)
                || lines.count > 1 && lines.prefix(2).allSatisfy({ $0.first == 0x7B })
        else { return nil }
        // A JSON text that spans many lines has lines that are not JSON themselves.
        let values = lines.prefix(1000).map { try? JSONTree(parsing: $0, what: "a line") }
        let records = values.compactMap(\.self).filter(\.isObject)
        return records.count == values.count && !records.isEmpty ? records : nil
    }

    private static func preset(_ reply: JSONTree, _ response: HTTPResponse) -> Preset? {
        if response.mediaType == "application/vnd.api+json" { return .jsonAPI }
        let data = reply["data"]?.elements?.first ?? reply["data"]
        if let data, data["type"]?.text != nil, data["id"] != nil, data["attributes"]?.isObject == true {
            return .jsonAPI
        }
        if reply["@odata.context"] != nil || reply["@odata.nextLink"] != nil { return .odata }
        if reply["_embedded"]?.isObject == true { return .hal }
        return nil
    }

    // MARK: Records

    private mutating func find(_ reply: JSONTree) throws {
        if reply[["data"]]?.isObject == true, let path = (try? finder()),
            path.hasSuffix("node") || path.hasSuffix("nodes")
        {
            notes.append("the reply looks like GraphQL: write the query under graphql, which sets preset graphql")
        }
        if let preset, let path = preset.records {
            recordsConfidence = .high("preset \(preset.rawValue)")
            records = try read(path)
            return
        }
        // FHIR resources are inside the entries, and nodes of connections are one level deeper.
        if let path = try? finder(), path.contains("[*]") {
            recordsPath = path
            recordsConfidence = .high(path.hasSuffix("resource") ? "a FHIR bundle" : "the nodes of a connection")
            records = try read(path)
            return
        }
        if let table = SampleTable(reply) {
            (recordsPath, columns) = (table.records, table.columns)
            recordsConfidence = .high("rows with one value for each name at \(table.columns)")
            records = try read(table.records ?? "$")
            return
        }
        let shape = SampleShape.make([reply])
        guard let found = ListingFinder.find(shape, subject: subject) else {
            guard reply.isObject, !reply.members.isEmpty else {
                if reply.elements != nil { records = try read("$") }
                recordsConfidence = .medium("the reply is an array of values")
                return
            }
            if let path = plainList(reply) {
                recordsPath = path
                recordsConfidence = .low("a list of plain values: each becomes a record")
                records = try read(path)
                return
            }
            let sure = try? finder()
            let path = sure ?? "$"
            // If a scan could not decide, the section must say that the object itself is the record.
            recordsPath = sure == "$" ? nil : path
            recordsConfidence =
                path.hasSuffix(".*")
                ? .medium("an object whose members are alike, each by its key")
                : path == "$"
                    ? .low("the reply is one object, taken as the only record") : .medium("where records usually are")
            records = try read(path)
            return
        }
        recordsPath = found.records
        recordsConfidence = found.confidence
        records = try read(found.records ?? "$")
        if reply["type"]?.text == "FeatureCollection" { notes.append("the reply is GeoJSON (RFC 7946)") }
    }

    /// Returns the path of the list of texts or numbers that the URL appears to name.
    private func plainList(_ reply: JSONTree) -> String? {
        let subject = subject.lowercased()
        let lists = reply.members.filter { _, value in
            guard let elements = value.elements, !elements.isEmpty else { return false }
            return elements.allSatisfy { $0.plainText != nil }
        }
        let named = lists.filter { subject.hasSuffix($0.name.lowercased()) }
        guard let name = (reply.members.count == 1 ? lists : named).first?.name else { return nil }
        return JSONPathText.of([name])
    }

    private func finder() throws -> String {
        guard let survey else { return "$" }
        return try RecordsFinder.path(survey, asked: "the sample", location: response.location)
    }

    /// Returns the records at a path, as a scan would return them.
    private func read(_ path: String) throws -> [JSONTree] {
        let options = BridgeOptions { writer in
            writer.member("records", path)
            writer.member("preset", preset?.rawValue)
            writer.member("paging", "none")
            writer.member("columns", columns)
        }
        let section = try RESTSection(FetchRequest(entity: "sample", section: options), base: url, parameters: nil)
        let reader = try PageReader(section)
        try reader.begin(body, response, asked: "the sample")
        let writer = RecordBatchWriter()
        var records: [JSONTree] = []
        var hasMore = true
        while hasMore, records.count < 5000 {
            hasMore = try reader.read(into: writer, isAccepted: true).hasMore
            let batch = try writer.finish()
            records += (0..<batch.count).map { JSONTree(batch[$0]) }.filter(\.isObject)
            withExtendedLifetime(batch) {}
        }
        return records
    }

    // MARK: Paging

    /// Returns the number of records that the reply states at the detected place.
    func total(_ detected: DetectedPaging) -> Int? { detector.total(detected) }

    /// The paging that the bridge would detect by itself.
    var detected: DetectedPaging? { detector.detect() }

    /// The member that says that more records follow, if the reply does not say how to request them.
    var promise: String? { detector.promise() }

    /// The request's limit parameter, if the reply has that many records: there may be more.
    var limit: String? {
        detector.limit().flatMap { records.count >= $0.count ? "\($0.name)=\($0.count)" : nil }
    }

    private var detector: PagingDetector {
        PagingDetector(
            survey: survey, response: response, url: url, count: { records.count }, given: Set(url.queryNames),
            records: try? JSONPath(recordsPath ?? preset?.records ?? "$", option: "records"))
    }
}
