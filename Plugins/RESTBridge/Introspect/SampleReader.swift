internal import BridgeHTTP

/// Guesses entities from replies alone.
struct SampleReader {
    /// A reply and where it came from.
    struct Sample: Sendable {
        var url: HTTPURL
        var reply: JSONTree
        var linkHeaders: [String]
    }

    /// Where the API begins: what all the samples' URLs have in common.
    let base: String
    let samples: [Sample]

    init(_ samples: [Sample]) {
        self.samples = samples
        let folders = samples.map { sample -> [String] in
            let path = sample.url.text.prefix { $0 != "?" }
            return Array(path.split(separator: "/", omittingEmptySubsequences: false).dropLast().map(String.init))
        }
        var common = folders.first ?? []
        for folder in folders {
            let same = zip(common, folder).prefix { $0 == $1 }.count
            common = Array(common.prefix(same))
        }
        base = common.count >= 3 ? common.joined(separator: "/") : samples.first.map { $0.url.text } ?? ""
    }

    func offers() -> (entities: [EntityOffer], notes: [String]) {
        var offers: [(offer: EntityOffer, item: Shape)] = []
        var notes: [String] = []
        for sample in samples {
            let path = String(sample.url.text.prefix { $0 != "?" }.dropFirst(base.count))
            let subject = String((path.split(separator: "/").last ?? "").prefix { $0 != "." && $0 != ":" })
            let reply = SampleShape.make([sample.reply])
            guard let found = ListingFinder.find(reply, subject: subject) ?? single(sample.reply, reply) else {
                notes.append("\(path): the reply holds no list of objects")
                continue
            }
            let name = Words.pascal(Words.singular(subject))
            var offer = EntityOffer(name: name.isEmpty || name.first?.isNumber == true ? "Record" : name)
            let records = records(of: found, in: sample.reply)
            let item = SampleShape.make(records)
            if let key = KeyGuess.make(item, entity: offer.name, parameter: nil) {
                (offer.key, offer.keyConfidence) = (key.paths, key.confidence)
            } else {
                offer.keyConfidence = .low("no member differs in all of the \(records.count) records")
                offer.obstacle = "no member identifies a record: name some under key, or say unique: none"
            }
            let query = Self.query(of: sample.url)
            let paging = PagingGuess.make(
                query.map { QueryParameter(name: $0.0, value: .text($0.1)) }, reply: reply, records: found.path,
                hasLink: LinkHeader.next(sample.linkHeaders) != nil, fromSample: true)
            var section: [(String, JSONTree)] = [("path", .text(path))]
            if let records = found.records { section.append(("records", .text(records))) }
            // A parameter that tells which page is set by paging; the page's size stays as it was asked for.
            let position = Set(
                (paging.paging?.members ?? []).filter { $0.name.hasSuffix("parameter") }.compactMap(\.value.text))
            let kept = query.filter { !position.contains($0.0) }
            if !kept.isEmpty { section.append(("query", .object(kept.map { ($0.0, .text($0.1)) }))) }
            if let rule = paging.paging { section.append(("paging", rule)) }
            offer.section = .object(section)
            offer.confidence = found.confidence
            offer.reasons = [("paging", paging.confidence)]
            if found.records != nil { offer.reasons.append(("records", found.confidence)) }
            offer.notes = ["seen: \(records.count) records of \(path)"]
            offers.append((offer, item))
        }
        let mapper = RecordMapper(
            targets: offers.map { offer, item in
                RecordMapper.Target(
                    name: offer.name, schemas: [], key: offer.key,
                    keyType: offer.key.first.flatMap { item[$0] }.map { FieldGuess.make($0, name: "").type } ?? "",
                    isUsable: offer.obstacle == nil)
            })
        return (
            offers.map { offer, item in
                var offer = offer
                mapper.map(item, into: &offer)
                if let moved = IncrementalGuess.make(offer.fields, []) { offer.proposals.append(moved) }
                return offer
            }, notes
        )
    }

    /// A reply that is one object is one record.
    private func single(_ value: JSONTree, _ shape: Shape) -> FoundListing? {
        guard value.isObject, !shape.properties.isEmpty else { return nil }
        return FoundListing(
            path: [], item: shape, confidence: .low("the reply is one object, taken for the only record"))
    }

    private func records(of found: FoundListing, in reply: JSONTree) -> [JSONTree] {
        guard let value = reply[found.path] else { return [] }
        if found.isMap { return value.members.map(\.value) }
        return (value.elements ?? [value]).filter(\.isObject)
    }

    private static func query(of url: HTTPURL) -> [(String, String)] {
        let parts = url.text.split(separator: "?", maxSplits: 1)
        guard parts.count == 2 else { return [] }
        return parts[1].split(separator: "&").compactMap { pair in
            guard let name = pair.split(separator: "=").first.flatMap({ String($0).removingPercentEncoding }) else {
                return nil
            }
            return url.queryValue(name).map { (name, $0) }
        }
    }
}

extension String {
    fileprivate var removingPercentEncoding: String? {
        // libcurl's own decoding, by way of a URL that has nothing else.
        HTTPURL("http://h/" + self)?.lastPathSegment
    }
}
