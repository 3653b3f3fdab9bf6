internal import BridgePaging
internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import RESTIntrospection
internal import RecordBatch

/// Reads a sample reply of a listing with the same parts as in a scan.
struct SampleParser {
    private let response: HTTPResponse
    private let body: HTTPExchange.PaddedBody
    private var preset: Preset?
    private let survey: ReplySurvey?
    private var sample: SampleReply

    /// Reads a reply.
    ///
    /// - Parameter requestBody: The body of a POST, or nil for a GET.
    /// - Throws: ``BridgeError`` if the reply is not JSON or reports a failure.
    static func parse(
        _ body: [UInt8], _ response: HTTPResponse, of url: HTTPURL, requestBody: JSONTree?
    ) throws -> SampleReply {
        let empty = SampleReply(url: url, subject: SampleReader.subject(of: url), requestBody: requestBody)
        var parser = try SampleParser(body, response, empty)
        parser.notePaging()
        parser.sample.preset = parser.preset?.rawValue
        return parser.sample
    }

    private init(_ body: [UInt8], _ response: HTTPResponse, _ sample: SampleReply) throws {
        self.response = response
        self.sample = sample
        self.body = HTTPExchange.PaddedBody(body)
        if let lines = Self.lines(body, response) {
            survey = nil
            preset = LineReader.isSpoken(response.mediaType) ? nil : .ndjson
            self.sample.records = lines
            self.sample.recordsConfidence = .high("a record per line")
            self.sample.notes.append("the reply has a record per line (NDJSON)")
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
            sample.notes.append(
                "the reply looks like GraphQL: write the query under graphql, which sets preset graphql")
        }
        if let preset, let path = preset.records {
            sample.recordsConfidence = .high("preset \(preset.rawValue)")
            sample.records = try read(path)
            return
        }
        // FHIR resources are inside the entries, and nodes of connections are one level deeper.
        if let path = try? finder(), path.contains("[*]") {
            sample.recordsPath = path
            sample.recordsConfidence = .high(path.hasSuffix("resource") ? "a FHIR bundle" : "the nodes of a connection")
            sample.records = try read(path)
            return
        }
        if let table = SampleTable(reply) {
            (sample.recordsPath, sample.columns) = (table.records, table.columns)
            sample.recordsConfidence = .high("rows with one value for each name at \(table.columns)")
            sample.records = try read(table.records ?? "$")
            return
        }
        let shape = SampleShape.make([reply])
        guard let found = ListingFinder.find(shape, subject: sample.subject) else {
            guard reply.isObject, !reply.members.isEmpty else {
                if reply.elements != nil { sample.records = try read("$") }
                sample.recordsConfidence = .medium("the reply is an array of values")
                return
            }
            if let path = plainList(reply) {
                sample.recordsPath = path
                sample.recordsConfidence = .low("a list of plain values: each becomes a record")
                sample.records = try read(path)
                return
            }
            let sure = try? finder()
            let path = sure ?? "$"
            // If a scan could not decide, the section must say that the object itself is the record.
            sample.recordsPath = sure == "$" ? nil : path
            sample.recordsConfidence =
                path.hasSuffix(".*")
                ? .medium("an object whose members are alike, each by its key")
                : path == "$"
                    ? .low("the reply is one object, taken as the only record") : .medium("where records usually are")
            sample.records = try read(path)
            return
        }
        sample.recordsPath = found.records
        sample.recordsConfidence = found.confidence
        sample.records = try read(found.records ?? "$")
        if reply["type"]?.text == "FeatureCollection" { sample.notes.append("the reply is GeoJSON (RFC 7946)") }
    }

    /// Returns the path of the list of texts or numbers that the URL appears to name.
    private func plainList(_ reply: JSONTree) -> String? {
        let subject = sample.subject.lowercased()
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
            writer.member("columns", sample.columns)
        }
        let section = try RESTSection(
            FetchRequest(entity: "sample", section: options), base: sample.url, parameters: nil)
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

    private mutating func notePaging() {
        let count = sample.records.count
        let url = sample.url
        let detector = PagingDetector(
            survey: survey, response: response, url: url, count: { count }, given: Set(url.queryNames),
            records: try? JSONPath(sample.recordsPath ?? preset?.records ?? "$", option: "records"))
        sample.paging = detector.detect().map { detected in
            SampleReply.Paging(
                members: detected.members, description: detected.description, total: detector.total(detected))
        }
        sample.promise = detector.promise()
        sample.limit = detector.limit().flatMap { count >= $0.count ? "\($0.name)=\($0.count)" : nil }
    }
}
