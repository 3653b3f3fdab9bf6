internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import BridgePaging
internal import RowFormats

/// Replies whose records are the rows of a table.
extension RESTSource {
    /// Returns how the lines of a packed file are read; nil for lines that are not packed.
    func packedLines(_ exchange: HTTPExchange) throws -> TableRule? {
        Packing(try exchange.bodyStart()) == .none ? nil : .lines
    }

    func rows(of file: ReplyFile, _ response: HTTPResponse, _ table: TableRule) throws -> TableReader {
        try TableReader(
            file, response, table, name: HTTPURL(response.url)?.path ?? "the reply",
            fields: section.recordFields(response), keys: section.keyPaths, read: section.readFields,
            limits: client.rowLimits, asked: asked)
    }

    /// Notes a table that ends the listing as its only page, although more may follow or rows may be missing.
    ///
    /// What an XML document has outside its rows is looked at like the members of a JSON reply; it cannot be followed.
    func noteTable(_ rows: TableReader, _ response: HTTPResponse) {
        guard pageNumber == 1, pager.isComplete, leftOut == nil, !section.paging.isWhole, section.isUnpaged else {
            return
        }
        let survey = ReplySurvey(rows.surroundings)
        let records = rows.surroundings.records
        var detector = PagingDetector(
            survey: survey, response: response, url: requestURL ?? section.url, count: { rows.count },
            given: section.givenParameters, records: records.isEmpty ? nil : JSONPath(names: records))
        detector.bodyNumbers = section.bodyNumbers
        let sign = PartialFailure.sign(survey, in: PagingDetector.objects(around: records), isNull: false) { path in
            section.accepts(path, survey[path], response.status)
        }
        if let sign { return noteFailure(response.redactor.clean(sign)) }
        let total = detector.plainTotal()
        let tooFew = total.flatMap {
            $0.count > rows.count ? "\($0.place) is \($0.count), and \(rows.count) came" : nil
        }
        if let sign = detector.signOfMore() ?? tooFew {
            leftOut =
                "\(asked): the reply says that there is more (\(response.redactor.clean(sign))), so the listing is not complete: set "
                + "paging (page, offset, or what the header fields have), or paging: {style: none, whole: true} if this is "
                + "complete nevertheless"
            return
        }
        // Lines have no page size of their own: they are sent until all have come.
        guard !section.paging.isSingle, section.table?.isForeign == true, total == nil, !detector.speaksOfMore,
            PageSize.isUsual(rows.count), !Self.wholeDocuments.contains(rows.surroundings.root),
            detector.limitInRequest.map({ $0.count <= rows.count }) ?? true
        else { return }
        leftOut =
            "\(asked): just \(rows.count) records arrived, a common page size, and nothing says whether there are more, so the "
            + "listing is not complete: set paging, or paging: none if that is all"
    }

    /// The roots of documents that have no pages: sitemaps, which often have a round number of entries.
    ///
    /// A feed of RSS is none of them, because it has the newest items only.
    private static let wholeDocuments: Set<String> = ["urlset", "sitemapindex"]
}

extension HTTPClient {
    /// The limits for rows: the text of one may have a third of the memory that a record may take.
    var rowLimits: RowLimits { RowLimits(record: max(maxRecordBytes / 3, 65_536), body: givenMaxBodyBytes) }
}

extension RESTSection {
    /// Whether the paging is that of a single reply, declared or for lack of a sign of another.
    var isUnpaged: Bool { if case .none = paging.style { true } else { false } }

    /// Whether a rule under `responses` accepts the sign of failure at a path.
    ///
    /// In a table, no rule finds anything at a path, so one with another action does not take effect.
    func accepts(_ path: String, _ value: JSONScalar, _ status: Int) -> Bool {
        responses.contains { rule in
            rule.action == .accept && rule.covers(status) && rule.path?.description == path && rule.fits(value)
        }
    }
}

extension ReplySurvey {
    /// What a document of XML has outside its records, as members of an object that stands for the root.
    ///
    /// The elements have texts only: numbers and flags are told by their form.
    init(_ surroundings: Surroundings) {
        var findings: [(path: String, value: JSONScalar)] = []
        for element in surroundings.elements {
            // The names of failures are written as in JSON.
            let names = element.names.map {
                ["error", "errors", "success"].contains($0.lowercased()) ? $0.lowercased() : $0
            }
            let path = PagingDetector.path(names)
            let isAround = element.hasElements || surroundings.records.starts(with: element.names)
            if !names.isEmpty {
                let isList = names.last == "errors" && element.hasElements
                findings.append((path, isList ? .array("{") : isAround ? .object : Self.scalar(element.text)))
            }
            for (name, value) in element.attributes {
                findings.append((ReplySurvey.member(path, name), Self.scalar(value)))
            }
            let isNext = element.attributes.contains { $0.name == "rel" && $0.value == "next" }
            if isNext, let link = element.attributes.first(where: { $0.name == "href" })?.value {
                findings.append((path + "[?@.rel=='next'].href", .text(link)))
            }
        }
        self.init(isArray: false, findings: findings)
    }

    private static func scalar(_ text: String) -> JSONScalar {
        switch text.lowercased() {
        case "true": .bool(true)
        case "false": .bool(false)
        case let word: Int(word) == nil ? .text(text) : .number(text)
        }
    }
}

extension ReplyFile {
    convenience init(
        _ exchange: HTTPExchange, _ response: HTTPResponse, isMarked: Bool = false, expecting mark: ByteMark? = nil
    ) {
        let isCoded = response.header("content-encoding") != nil
        self.init(
            exchange, length: isCoded ? nil : response.header("content-length").flatMap { Int64($0) },
            isMarked: isMarked, expecting: mark)
    }
}
