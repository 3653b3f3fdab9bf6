internal import BridgeJSON
internal import BridgeContract
internal import Inference

/// Finds the entities of an OpenAPI document: one for each listing of identifiable objects.
package struct OpenAPIReader {
    let document: OpenAPIDocument
    /// The options of the bridge.
    package private(set) var security: SecurityGuess
    private(set) var paths: [(path: String, item: JSONTree)] = []
    /// The same by path, and the paths of single objects by what precedes their variable: a document may have
    /// thousands.
    private(set) var items: [String: JSONTree] = [:]
    private var itemPaths: [String: (path: String, variable: String)] = [:]
    /// All listings, before one is chosen for each entity.
    private var listed: [Listing] = []
    /// Whether the user's options send a header field.
    let sends: (String) -> Bool

    /// Creates a reader of a document.
    ///
    /// - Parameter sends: Whether the user's options send a header field.
    package init(_ document: OpenAPIDocument, sends: @escaping (String) -> Bool = { _ in false }) {
        self.document = document
        self.sends = sends
        security = SecurityGuess(document)
        paths = (document.root["paths"]?.members ?? []).filter { $0.name.hasPrefix("/") }
            .map { ($0.name, document.resolve($0.value).value) }
        for (path, item) in paths {
            items[path] = items[path] ?? item
            let trimmed = path.trimmingSlash
            guard let slash = trimmed.lastIndex(of: "/") else { continue }
            let (prefix, last) = (String(trimmed[...slash]), trimmed[trimmed.index(after: slash)...])
            if last.hasPrefix("{"), last.hasSuffix("}"), last.count(where: { $0 == "{" }) == 1, itemPaths[prefix] == nil
            {
                itemPaths[prefix] = (path, String(last.dropFirst().dropLast()))
            }
        }
        listed = listings()
        security.require(listed.map { ($0.secrets, $0.bodySecrets) })
    }

    /// A request whose reply is a listing.
    struct Listing {
        var path: String
        /// The path of its own server below that of the document.
        var prefix = ""
        /// The method in lower case: get or post.
        var method = "get"
        var operation: JSONTree
        /// The servers of the operation, or of its path.
        var servers: JSONTree?
        /// The part of the API with its authentication; nil for the main part.
        var part: SecurityGuess.Part?
        var found: FoundListing
        var format = ReplyFormat.json
        /// Whether the records are resources of JSON:API.
        var isOfResources = false
        var paging: PagingGuess
        /// The header fields and cookies that the request must have.
        var fields: [RequiredField] = []
        /// The request's parameters besides paging, with values if the document has them.
        var query: [(String, JSONTree)]
        /// The names of parameters in the query whose values must not be written to a file.
        var secrets: [String]
        /// The body of a POST, with what it must have besides paging.
        var body: JSONTree?
        /// The members of the body that the request must have.
        var bodyNames: [String] = []
        /// The variables in place of the body's credentials.
        var bodySecrets: [String] = []
        var missing: [String]
        var variables: [String]
        var parameters: [QueryParameter]
        /// The path of a single object, with its variable.
        var itemPath: (path: String, variable: String)?
        var name: String
        var summary: String?

        /// The request in words.
        var words: String { "\(method.uppercased()) \(path)" }
    }

    /// Returns the entities, notes on what was left out, and the parts of the API with options of their own.
    package func offers() -> (entities: [EntityOffer], notes: [String], parts: [SecurityGuess.Part]) {
        let all = listed
        var chosen: [Listing] = []
        var notes: [String] = []
        for group in grouped(all) {
            guard let best = group.first else { continue }
            chosen.append(best)
            let others = group.dropFirst().map(\.words)
            if !others.isEmpty {
                let shown = others.prefix(4).joined(separator: ", ")
                notes.append(
                    "\(best.name): also listed by \(shown)\(others.count > 4 ? " and \(others.count - 4) more" : "")")
            }
        }
        notes += externalReplies() + foreignReplies() + leftOut(besides: all)
        var offers: [(offer: EntityOffer, listing: Listing)] = []
        for listing in chosen {
            var offer = EntityOffer(name: listing.name)
            let key = KeyGuess.make(listing.found.item, entity: listing.name, parameter: listing.itemPath?.variable)
            offer.key = key?.paths ?? []
            offer.keyConfidence = key?.confidence ?? .low("no member looks like a key")
            if key == nil { offer.obstacle = "no member looks like a key: name one under key, or say unique: none" }
            offers.append((offer, listing))
        }
        resolvePaths(&offers)
        resolveServers(&offers)
        resolveFields(&offers)
        let targets = offers.map { offer, listing in
            RecordMapper.Target(
                name: offer.name, schemas: Set([listing.found.item.name].compactMap(\.self)), key: offer.key,
                keyType: offer.key.first.flatMap { listing.found.item[$0] }.map {
                    FieldGuess.make($0, name: offer.key.first?.last ?? "").type
                } ?? "", isUsable: offer.obstacle == nil)
        }
        let mapper = RecordMapper(targets: targets)
        for index in offers.indices {
            mapper.map(offers[index].listing.found.item, into: &offers[index].offer)
            describe(offers[index].listing, &offers[index].offer)
            propose(offers[index].listing, &offers[index].offer)
        }
        var parts: [SecurityGuess.Part] = []
        var names: Set<String> = []
        for part in offers.compactMap(\.listing.part) where names.insert(part.name).inserted { parts.append(part) }
        return (offers.map(\.offer), notes, parts)
    }

    // MARK: Listings

    private func listings() -> [Listing] {
        paths.compactMap { path, item in
            isItem(path) ? nil : listing("get", path, item) ?? listing("post", path, item)
        }
    }

    private func listing(_ method: String, _ path: String, _ item: JSONTree) -> Listing? {
        guard let operation = item[method].map({ document.resolve($0).value }) else { return nil }
        let subject = subject(of: path)
        guard let (shape, headers, format, types) = reply(of: operation),
            var found = ListingFinder.find(shape, subject: subject), Self.obstacle(format, found) == nil
        else { return nil }
        let isOfResources = found.path == ["data"] && Self.areOfJSONAPI(types) && found.item.isResource
        if isOfResources { found.item = found.item.flattenedResource }
        let itemPath = itemPath(of: path)
        if let variable = itemPath?.variable { found.item.assumeInteger(of: variable) }
        let parameters = parameters(of: operation, item)
        var search = method == "post" ? searchBody(of: operation) : nil
        var paging = PagingGuess.make(
            (search?.parameters ?? []) + parameters.filter { !SecretGuess.isCredential($0) },
            // The members beside rows cannot be read.
            reply: format == .json ? shape : ValueShape(), records: format == .json ? found.path : [],
            hasLink: headers.contains { $0.lowercased() == "link" })
        let name = name(found.item, path: path)
        if method == "post" {
            // Otherwise a POST may as well change what it returns.
            guard let names = search?.names,
                isSearch(path, operation, pages: paging.parameters.count { names[$0] != nil }),
                KeyGuess.make(found.item, entity: name, parameter: nil) != nil
            else { return nil }
            search?.remove(paging.sent)
            paging.moveIntoBody(names)
        }
        var query: [(String, JSONTree)] = []
        var missing: [String] = []
        var secrets = security.address.parameters
        for parameter in parameters where parameter.isRequired && !paging.sent.contains(parameter.name) {
            if SecretGuess.isCredential(parameter) {
                if !secrets.contains(parameter.name) { secrets.append(parameter.name) }
            } else if let value = parameter.value ?? parameter.shape.values.first.map(JSONTree.text) {
                query.append((parameter.name, value))
            } else {
                missing.append(parameter.name)
            }
        }
        let sizes = paging.query
        var listing = Listing(
            path: path, method: method, operation: operation,
            servers: operation["servers"] ?? item["servers"], found: found, format: format, paging: paging,
            query: query + (search == nil ? sizes : []), secrets: secrets, missing: missing,
            variables: Self.variables(path),
            parameters: parameters + (search?.parameters ?? []), itemPath: itemPath, name: name,
            summary: operation["summary"]?.text)
        listing.isOfResources = isOfResources
        listing.fields = requiredFields(of: operation, item)
        if let search { listing.send(search, sizes: sizes) }
        return listing
    }

    /// Returns a note on the listings whose reply is described in another file, which is not read.
    private func externalReplies() -> [String] {
        let found = paths.compactMap { path, item -> String? in
            guard !isItem(path), let response = item["get"]?["responses"]?["200"] else { return nil }
            let schema = document.isSwagger2 ? response["schema"] : media(response["content"])?["schema"]
            let reference = (response["$ref"] ?? schema?["$ref"])?.text
            return reference.flatMap { $0.hasPrefix("#") ? nil : "GET \(path)" }
        }
        guard !found.isEmpty else { return [] }
        let shown = found.prefix(4).joined(separator: ", ")
        let more = found.count > 4 ? " and \(found.count - 4) more" : ""
        return [
            "not inspected, because other files describe their replies: \(shown)\(more); inspect them with --sample URL"
        ]
    }

    /// Groups listings by entity; the preferred one comes first: fewest variables, then the shortest path.
    private func grouped(_ listings: [Listing]) -> [[Listing]] {
        var order: [String] = []
        var groups: [String: [Listing]] = [:]
        for listing in listings {
            let identity = listing.found.item.name ?? listing.name
            if groups[identity] == nil { order.append(identity) }
            groups[identity, default: []].append(listing)
        }
        var names: Set<String> = []
        // The next number behind a name that several groups have.
        var numbers: [String: Int] = [:]
        return order.compactMap { identity in
            guard var group = groups[identity] else { return nil }
            func rank(_ listing: Listing) -> [Int] {
                let fits = NameWords.match(listing.name, NameWords.singular(subject(of: listing.path)))
                return [
                    listing.variables.count, listing.missing.count + listing.fields.count { $0.value == nil },
                    listing.method == "get" ? 0 : 1, fits ? 0 : 1,
                    listing.itemPath == nil ? 1 : 0,
                    listing.path.count { $0 == "/" }, listing.path.count,
                ]
            }
            group.sort { rank($0).lexicographicallyPrecedes(rank($1)) }
            var name = group[0].name
            // Two schemas may shorten to the same name.
            if names.contains(name.lowercased()) { name = NameWords.pascal(identity) }
            if names.contains(name.lowercased()) {
                name = NameWords.pascal(
                    group[0].path.split(separator: "/").filter { !$0.hasPrefix("{") }.joined(separator: "-"))
            }
            var number = numbers[group[0].name, default: 2]
            while names.contains(name.lowercased()) {
                name = "\(group[0].name)\(number)"
                number += 1
                numbers[group[0].name] = number
            }
            names.insert(name.lowercased())
            for index in group.indices { group[index].name = name }
            return group
        }
    }

    /// Whether the path addresses a single object.
    func isItem(_ path: String) -> Bool {
        guard let last = path.split(separator: "/").last else { return false }
        return last.hasPrefix("{") && last.hasSuffix("}") && last.count { $0 == "{" } == 1
    }

    private func itemPath(of listing: String) -> (path: String, variable: String)? {
        itemPaths[listing.hasSuffix("/") ? listing : listing + "/"]
    }

    func subject(of path: String) -> String {
        let part = path.split(separator: "/").last {
            !$0.hasPrefix("{") && !["search", "list", "all", "query", "find", "filter"].contains($0.lowercased())
        }
        // Cuts `/users.json` and `/users:list` down to `users`.
        return String((part ?? "").prefix { $0 != "." && $0 != ":" && $0 != "(" })
    }

    static func variables(_ path: String) -> [String] {
        path.split(separator: "{", omittingEmptySubsequences: false).dropFirst().compactMap { part in
            part.firstIndex(of: "}").map { String(part[..<$0]) }
        }
    }

    /// Returns the entity's name: from the schema, unless its name only describes the reply.
    private func name(_ item: ValueShape, path: String) -> String {
        let fromPath = NameWords.pascal(NameWords.singular(subject(of: path)))
        guard let schema = item.name else { return fromPath.isEmpty ? "Record" : fromPath }
        // The last part of `com.example.Pet` and `#/components/schemas/api.v1.Pet`.
        var name = NameWords.pascal(String(schema.split(whereSeparator: { ".»«/".contains($0) }).last ?? ""))
        let endings = [
            "Dto", "DTO", "Response", "Model", "Resource", "Representation", "Schema", "Output", "Read", "Vo", "VO",
            "Entity", "ListItem", "Object", "Item", "Out", "Summary", "View",
        ]
        for ending in endings where name.hasSuffix(ending) && name.count > ending.count + 2 {
            name = String(name.dropLast(ending.count))
            break
        }
        return name.isEmpty || name.first?.isNumber == true ? fromPath : name
    }

    // MARK: Replies and Parameters

    /// What an operation replies with.
    typealias Reply = (shape: ValueShape, headers: [String], format: ReplyFormat, types: [String])

    /// Returns the shape of a successful reply, with the names of its header fields, its form and its media types.
    func reply(of operation: JSONTree) -> Reply? {
        let responses = operation["responses"]?.members ?? []
        let good = ["200", "2XX", "2xx", "201", "206", "default"]
        guard let response = good.lazy.compactMap({ code in responses.first { $0.name == code }?.value }).first else {
            return nil
        }
        let value = document.resolve(response).value
        let headers = (value["headers"]?.members ?? []).map(\.name)
        let types = mediaTypes(of: operation, value)
        let format = ReplyFormat(types)
        guard let schema = document.isSwagger2 ? value["schema"] : media(value["content"])?["schema"] else {
            return example(of: value).map { ($0, headers, format, types) }
        }
        let shape = document.shape(schema)
        // The schema may be empty while the example is not.
        if shape.properties.isEmpty, shape.element == nil || shape.element?.properties.isEmpty == true,
            let example = example(of: value)
        {
            return (example, headers, format, types)
        }
        return (shape, headers, format, types)
    }

    func media(_ content: JSONTree?) -> JSONTree? {
        let all = content?.members ?? []
        func first(_ accept: (String) -> Bool) -> JSONTree? { all.first { accept($0.name.lowercased()) }?.value }
        return first { $0.hasPrefix("application/json") } ?? first { $0.contains("json") && !$0.contains("seq") }
            ?? first { $0 == "*/*" } ?? first { $0.contains("csv") } ?? first { $0.contains("xml") }
            ?? (all.count == 1 ? all.first?.value : nil)
    }

    private func example(of response: JSONTree) -> ValueShape? {
        let media = media(response["content"])
        let named = media?["examples"]?.members.first.map { document.resolve($0.value).value["value"] ?? .null }
        let swagger = response["examples"]?.members.first { $0.name.contains("json") }?.value
        guard let example = media?["example"] ?? named ?? swagger, example.isObject || example.elements != nil else {
            return nil
        }
        return SampleShape.make([example])
    }

    // MARK: Sections

    private func describe(_ listing: Listing, _ offer: inout EntityOffer) {
        var section: [(String, JSONTree)] = [("path", .text(listing.prefix + listing.path))]
        switch listing.format {
        case .csv: section.append(("format", "csv"))
        case .xml:
            section.append(("format", "xml"))
            if !listing.found.path.isEmpty {
                section.append(("records", .text(listing.found.path.joined(separator: "/"))))
            }
        case .json where listing.isOfResources: section.append(("preset", "json_api"))
        case .json, .other:
            if let records = listing.found.records { section.append(("records", .text(records))) }
        }
        if listing.method == "post" { section.insert(("method", "POST"), at: 1) }
        if let body = listing.body { section.append(("body", body)) }
        if let fields = listing.fields.section { section.append(("headers", fields)) }
        let query = secretQuery(of: listing) + listing.query
        if !query.isEmpty { section.append(("query", .object(query))) }
        if let paging = listing.paging.paging { section.append(("paging", paging)) }
        offer.section = .object(section)
        offer.confidence = listing.found.confidence
        offer.reasons = [("paging", listing.paging.confidence)]
        if listing.format == .csv || listing.format == .xml {
            let name = listing.format == .csv ? "CSV" : "XML"
            offer.confidence = .medium("the reply is \(name), whose rows the document describes as an array")
            offer.reasons.append(("format", .high("the reply's only media type is \(name)")))
        }
        if listing.isOfResources {
            offer.reasons.append(("preset", .high("the replies are of JSON:API, by their media type")))
        } else if listing.found.records != nil {
            offer.reasons.append(("records", listing.found.confidence))
        }
        if listing.fields.section != nil {
            offer.reasons.append(("headers", .medium("the request must have them; the document has the values")))
        }
        let required = listing.query.map(\.0).filter { name in !listing.paging.query.contains { $0.0 == name } }
        if !required.isEmpty {
            offer.reasons.append(
                (
                    "query",
                    .low(
                        "the request must have \(required.joined(separator: ", ")); another value may list other records"
                    )
                ))
        }
        if !listing.bodyNames.isEmpty {
            offer.reasons.append(
                (
                    "body",
                    .low(
                        "the request must have \(listing.bodyNames.joined(separator: ", ")); another value may list other records"
                    )
                ))
        }
        if let summary = listing.summary, !summary.isEmpty { offer.notes.append("\(listing.words): \(summary)") }
    }
}

extension String {
    var trimmingSlash: String { hasSuffix("/") ? String(dropLast()) : self }

    func components(before text: String) -> String {
        firstRange(of: text).map { String(self[..<$0.lowerBound]) } ?? self
    }
}
