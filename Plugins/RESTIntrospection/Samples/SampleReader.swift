internal import BridgeContract
package import BridgeHTTP
package import BridgeJSON
internal import Inference

/// Guesses entities from sample replies alone.
package struct SampleReader {
    /// The base URL: the common part of all samples' URLs.
    let base: String
    let samples: [SampleReply]
    /// Names of query parameters whose values must not be written to a file.
    private let secrets: [String]
    /// The places of credentials in the requests' bodies.
    private let members: [[String]]

    /// Creates a reader of samples.
    package init(_ samples: [SampleReply]) {
        self.samples = samples
        base = Self.base(of: samples.map(\.url))
        var names: [String] = []
        for name in samples.flatMap(\.url.queryNames)
        where SecretGuess.isParameter(name) && !names.contains(name) {
            names.append(name)
        }
        secrets = names
        var found: [[String]] = []
        for body in samples.compactMap(\.requestBody) {
            _ = SecretGuess.hiding(body, &found, variable: SecretGuess.variable)
        }
        members = found
    }

    static func base(of urls: [HTTPURL]) -> String {
        let folders = urls.map { url -> [String] in
            let path = url.text.prefix { $0 != "?" }
            return Array(path.split(separator: "/", omittingEmptySubsequences: false).dropLast().map(String.init))
        }
        var common = folders.first ?? []
        for folder in folders {
            let same = zip(common, folder).prefix { $0 == $1 }.count
            common = Array(common.prefix(same))
        }
        return common.count >= 3
            ? common.joined(separator: "/") : urls.first.map { String($0.text.prefix { $0 != "?" }) } ?? ""
    }

    /// Returns the subject of a URL, such as `users` for `https://api.example/v1/users.json?page=2`.
    package static func subject(of url: HTTPURL) -> String {
        let path = url.text.prefix { $0 != "?" }.split(separator: "/").dropFirst(2)
        let named = path.last { !["search", "list", "all", "filter", "query", "find"].contains($0.lowercased()) }
        return String((named ?? path.last ?? "").prefix { $0 != "." && $0 != ":" })
    }

    /// The bridge's options: the base URL, and a reference for the key in a sample's URL.
    package var options: JSONTree {
        var options: [(String, JSONTree)] = [("url", .text(base))]
        if let name = secrets.first {
            options.append(
                ("auth", ["type": "api_key", "value": ["env": .text(variable(name))], "query": .text(name)]))
        }
        let others = secrets.dropFirst().map { variable($0) } + members.map { variable(member: $0) }
        let references = others.map { name -> (String, JSONTree) in (name.lowercased(), ["env": .text(name)]) }
        if !references.isEmpty { options.append(("parameters", .object(references))) }
        return .object(options)
    }

    /// Returns the section's variable for a further secret, which the bridge's options list under `parameters`.
    private func parameter(_ name: String) -> String { variable(name).lowercased() }

    /// What a person has to do before the options can be used.
    package var notes: [String] {
        let ofBody = members.map { path -> String in
            "the sample's body contained \(path.joined(separator: ".")): put its value into the environment variable "
                + variable(member: path)
        }
        return secrets.map {
            "the sample's URL contained \($0): put its value into the environment variable \(variable($0))"
        } + ofBody
    }

    /// Returns the name of the environment variable for a credential in a body, other than those of the URL's.
    private func variable(member path: [String]) -> String {
        let name = SecretGuess.variable(path)
        return variable(secrets.contains { variable($0) == variable(name) } ? "body_" + name : name)
    }

    /// Returns the name of an environment variable, such as `EXAMPLE_API_KEY` for `api_key` and
    /// `https://api.example.com`.
    private func variable(_ name: String) -> String {
        let dull = ["api", "www", "com", "org", "net", "io", "rest", "http", "https", "localhost"]
        let host = base.split(separator: "/").dropFirst().first.map(String.init) ?? ""
        let word = host.lowercased().split { !$0.isLetter }.map(String.init).first {
            !dull.contains($0) && $0.count > 1
        }
        let plain = name.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
        return [word?.uppercased(), String(plain)].compactMap(\.self).joined(separator: "_")
    }

    /// Returns an entity for each sample, and notes on the samples without records.
    package func offers() -> (entities: [EntityOffer], notes: [String]) {
        var offers: [(offer: EntityOffer, item: ValueShape)] = []
        var seen: [SampleReply] = []
        var notes: [String] = []
        for sample in samples {
            let path = String(sample.url.text.prefix { $0 != "?" }.dropFirst(base.count))
            guard !sample.records.isEmpty else {
                notes.append("\(path): the reply holds no list of objects, or an empty one")
                continue
            }
            let name = Self.name(of: sample)
            var offer = EntityOffer(name: name.isEmpty || name.first?.isNumber == true ? "Record" : name)
            let item = SampleShape.make(sample.records)
            if let key = KeyGuess.make(item, entity: offer.name, parameter: nil)
                ?? KeyGuess.several(sample.records, item)
            {
                (offer.key, offer.keyConfidence) = (key.paths, key.confidence)
            } else {
                offer.keyConfidence = .low("no member is unique in the \(sample.records.count) records")
                offer.obstacle = "no member identifies a record: name some under key, or say unique: none"
            }
            describe(sample, path: path, in: &offer)
            offers.append((offer, item))
            seen.append(sample)
        }
        for index in offers.indices { setParent(of: index, in: &offers, seen) }
        let mapper = RecordMapper(
            targets: offers.map { offer, item in
                RecordMapper.Target(
                    name: offer.name, schemas: [], key: offer.key,
                    keyType: offer.key.first.flatMap { item[$0] }.map { FieldGuess.make($0, name: "").type } ?? "",
                    isUsable: offer.obstacle == nil,
                    keyValues: offer.key.first.flatMap { item[$0]?.seen?.scalars } ?? [],
                    members: Set(item.properties.map(\.name)),
                    types: item["id"] == nil ? [] : Self.types(item), item: item)
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

    /// Returns the `type` of JSON:API if all records have the same one.
    private static func types(_ item: ValueShape) -> Set<String> {
        guard let type = item["type"], type.solid == [.string], type.seen?.isComplete == true,
            let scalars = type.seen?.scalars, scalars.count == 1
        else { return [] }
        return Set(scalars.map { String($0.dropFirst()) })
    }

    /// Returns the entity's name, from the path.
    ///
    /// If the path ends in a script or a word with a leading underscore, the place of the records comes first.
    private static func name(of sample: SampleReply) -> String {
        let last = sample.url.text.prefix { $0 != "?" }.split(separator: "/").last ?? ""
        let isScript = ["php", "cgi", "pl", "asp", "aspx", "ashx", "jsp", "do", "dll"].contains(
            last.split(separator: ".").dropFirst().last?.lowercased() ?? "")
        let place = listed(sample)
        let subject = isScript || last.hasPrefix("_") ? place ?? sample.subject : thing(sample)
        return NameWords.pascal(NameWords.singular(subject))
    }

    /// Returns the reply's name for its list, or nil if that name is generic.
    private static func listed(_ sample: SampleReply) -> String? {
        sample.recordsPath.flatMap { try? JSONPath($0, option: "records") }?.segments.reversed().lazy
            .compactMap { segment -> String? in
                if case .name(let name) = segment, !ListingFinder.isUsual(name) { return name }
                return nil
            }.first
    }

    /// Makes the listing a child of another sample's entity if its path contains the key of one of that entity's
    /// objects.
    ///
    /// Adds a note if a path segment only looks like a key.
    private func setParent(
        of index: Int, in offers: inout [(offer: EntityOffer, item: ValueShape)], _ samples: [SampleReply]
    ) {
        func segments(_ sample: SampleReply) -> [String] {
            sample.url.text.prefix { $0 != "?" }.split(separator: "/").map { HTTPURL.decode(String($0)) }
        }
        let own = segments(samples[index])
        // Skip the scheme and the host, and stop before the list's own segment.
        for place in own.indices.dropFirst(2) {
            let parent = offers.indices.first { other in
                guard other != index, segments(samples[other]) == Array(own[..<place]),
                    offers[other].offer.obstacle == nil, offers[other].offer.key.count == 1
                else { return false }
                let key = offers[other].offer.key[0]
                return samples[other].records.contains { record in
                    record[key].map { $0.text ?? $0.json } == own[place]
                }
            }
            guard let parent else {
                if place < own.count - 1, Self.isKeyLike(own[place]) {
                    offers[index].offer.notes.append(
                        "\(own[place]) in its path looks like the key of one object: where each has such a list, name its "
                            + "entity under parent and write {parent.KEY} there")
                }
                continue
            }
            let target = offers[parent].offer.name
            let name = target.prefix(1).lowercased() + target.dropFirst()
            let literal = "/" + samples[index].url.text.prefix { $0 != "?" }.split(separator: "/")[place]
            let path = offers[index].offer.section["path"]?.text ?? ""
            let variable = "/{parent.\(LocalName.make(offers[parent].offer.key[0]))}"
            if let range = path.firstRange(of: literal + "/") {
                offers[index].offer.section.set(
                    .text(path[..<range.lowerBound] + variable + "/" + path[range.upperBound...]), at: ["path"])
            } else if place == own.count - 1, path.hasSuffix(literal) {
                // The reply is about a single object: its list belongs to that object, or else it holds more of the
                // object's members.
                offers[index].offer.section.set(.text(path.dropLast(literal.count) + variable), at: ["path"])
                let listed = Self.listed(samples[index])
                let name = listed.map { NameWords.pascal(NameWords.singular($0)) } ?? "\(target)Detail"
                if !offers.contains(where: { $0.offer.name == name }) { offers[index].offer.name = name }
            } else {
                continue
            }
            offers[index].offer.parent = name
            offers[index].offer.relationships.append(
                EntityOffer.Relationship(
                    name: name, target: target, isToMany: false, path: [name],
                    confidence: .medium("\(own[place]) in the sample's path is the key of a \(target)")))
            return
        }
    }

    /// Returns the subject of the listing: `places` for `/collections/places/items`, whose last word is generic.
    private static func thing(_ sample: SampleReply) -> String {
        let dull = ["items", "records", "features", "entries", "list", "all", "search", "query", "results", "rows"]
        let segments = sample.url.text.prefix { $0 != "?" }.split(separator: "/").dropFirst(2).map(String.init)
        guard dull.contains(sample.subject.lowercased()), let before = segments.dropLast().last, segments.count > 2,
            !isKeyLike(before), before.allSatisfy({ $0.isLetter || $0.isNumber || "_-".contains($0) })
        else { return sample.subject }
        return before
    }

    private static func isKeyLike(_ segment: String) -> Bool {
        segment.allSatisfy { $0.isASCII && $0.isNumber } || TextFormat.of(segment) == .uuid
    }

    /// Describes the section: the request, the place of the records, and the paging.
    private func describe(_ sample: SampleReply, path: String, in offer: inout EntityOffer) {
        var section: [(String, JSONTree)] = path.isEmpty ? [] : [("path", .text(path))]
        if let preset = sample.preset { section.append(("preset", .text(preset))) }
        if let records = sample.recordsPath {
            section.append(("records", .text(records)))
            offer.reasons.append(("records", sample.recordsConfidence))
        }
        if let columns = sample.columns { section.append(("columns", .text(columns))) }
        let paging = SamplePaging(sample)
        let query = paging.query.compactMap { name, value -> (String, JSONTree)? in
            // The first secret is sent by the bridge's auth.
            if name == secrets.first { return nil }
            return (name, .text(secrets.contains(name) ? "{\(parameter(name))}" : value))
        }
        if !query.isEmpty { section.append(("query", .object(query))) }
        if let rule = paging.rule { section.append(("paging", rule)) }
        if let body = sample.requestBody {
            var found: [[String]] = []
            let shown = SecretGuess.hiding(body, &found) { variable(member: $0).lowercased() }
            section += [("method", "POST"), ("body", shown)]
            offer.reasons.append(("body", .high("from the sample's request")))
        }
        offer.section = .object(section)
        offer.confidence = sample.recordsConfidence
        offer.reasons.append(("paging", paging.confidence))
        offer.notes =
            ["seen: \(sample.records.count) records of \(path.isEmpty ? "the url" : path)"]
            + Self.absenceNotes(sample.records) + sample.notes + paging.notes
    }

    /// Returns notes on members that some records leave out; such a record is read as having null there.
    private static func absenceNotes(_ records: [JSONTree]) -> [String] {
        var counts: [(name: String, count: Int)] = []
        var places: [String: Int] = [:]
        for record in records {
            guard case .object(let members) = record else { continue }
            for name in members.names {
                if let place = places[name] {
                    counts[place].count += 1
                } else {
                    places[name] = counts.count
                    counts.append((name, 1))
                }
            }
        }
        let optional = counts.filter { $0.count < records.count }.map(\.name).sorted()
        guard !optional.isEmpty else { return [] }
        let shown = optional.prefix(10).joined(separator: ", ") + (optional.count > 10 ? ", ..." : "")
        return ["left out of some records, which is read as null there (absent: auto): \(shown)"]
    }
}

/// The paging of a sample's listing, and the part of its query that does not belong to the listing.
private struct SamplePaging {
    /// The section's `paging`, or nil if the bridge detects it.
    var rule: JSONTree?
    var confidence: Confidence
    /// The query without the parameters that select the page.
    var query: [(name: String, value: String)]
    var notes: [String] = []

    private static let positions: Set<String> = [
        "page", "p", "pagenumber", "pageno", "page[number]", "offset", "skip", "start", "startat", "cursor", "after",
        "pagetoken", "startingafter", "startcursor", "pageafter", "page[after]", "page[cursor]", "marker", "maxid",
        "sinceid", "nexttoken", "continuationtoken", "before", "endingbefore",
    ]

    init(_ sample: SampleReply) {
        query = sample.url.queryPairs
        guard let found = sample.paging else {
            confidence =
                sample.promise.map { .low("\($0): there is more, but nothing says how to request it: set paging") }
                ?? sample.limit.map {
                    .low(
                        "the reply has as many records as \($0) requests, and nothing says whether there are more: set paging"
                    )
                }
                ?? .medium("nothing in the reply says how to continue: it is taken as the whole listing")
            drop(Self.isPosition)
            return
        }
        let words = found.description
        let window = TimeWindow(query)
        let parameters = found.members.filter { $0.name.hasSuffix("parameter") }.map(\.value)
            .filter { !window.contains($0) }
        let names = Set(sample.url.queryNames)
        guard found.members.first?.value != "none" else {
            guard found.total.map({ $0 > sample.records.count }) ?? true else {
                if let promise = sample.promise {
                    confidence = .low("\(promise): there is more, but nothing says how to request it: set paging")
                    return
                }
                confidence = .high("the reply has as many records as it counts: left to auto")
                return
            }
            confidence = .low(
                "the reply says that there is more than its \(sample.records.count) records, but not how to request it: "
                    + "set paging")
            return
        }
        guard parameters.contains(where: names.contains) else {
            confidence = .high("left to auto, which finds \(words)")
            drop(Self.isPosition)
            return
        }
        // Paging sets the parameter that selected the page in the sample. A scan starts at the beginning.
        rule = .object(
            found.members.map { name, value in
                (name, ["size", "start"].contains(name) ? .number(value) : .text(value))
            })
        confidence = .medium("as found in the reply, with the request's own names")
        // A cursor starts without its parameter. If the parameter is the number of the first page, the listing may need
        // it.
        let isCursor = found.members.first?.value == "cursor"
        let kept = isCursor ? query.filter { ["0", "1"].contains($0.value) }.map(\.name) : []
        drop { parameters.contains($0) && !kept.contains($0) }
    }

    private mutating func drop(_ isDropped: (String) -> Bool) {
        let window = TimeWindow(query)
        let dropped = query.filter { isDropped($0.name) && !window.contains($0.name) }
        query.removeAll { isDropped($0.name) && !window.contains($0.name) }
        for (name, value) in dropped {
            notes.append("left out of the query: \(name)=\(value), which says where a page begins")
        }
    }

    private static func isPosition(_ name: String) -> Bool {
        positions.contains(name.lowercased().filter { $0 != "_" && $0 != "-" && $0 != "$" })
    }
}
