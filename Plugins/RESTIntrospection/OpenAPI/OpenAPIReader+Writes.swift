internal import BridgeContract
internal import BridgeJSON

/// The operations that write the objects of listings.
extension OpenAPIReader {
    /// Returns the operations that create, update and delete the objects of a listing, with their methods and paths.
    func writes(of listing: Listing) -> [(method: String, path: String, operation: JSONTree)] {
        // A POST that lists says nothing about how to create.
        guard listing.method == "get", listing.prefix.isEmpty,
            let collection = items[originalPath(listing)] ?? items[listing.path]
        else { return [] }
        var found = [("post", originalPath(listing), collection["post"])]
        if let (path, _) = listing.itemPath, let item = items[path] {
            found += ["patch", "put", "delete"].map { ($0, path, item[$0]) }
        }
        return found.compactMap { method, path, operation in
            operation.map { (method, path, document.resolve($0).value) }
        }
    }

    /// Proposes the members of an entity that a person must enable: how its changes are found, and its writes.
    func propose(_ listing: Listing, _ offer: inout EntityOffer) {
        if let moved = IncrementalGuess.make(offer.fields, listing.parameters) { offer.proposals.append(moved) }
        let place = place(of: listing, offer)
        var write: [(String, JSONTree)] = []
        var words: [String] = []
        for (method, path, operation) in writes(of: listing) {
            let name = ["post": "create", "delete": "delete"][method] ?? "update"
            // PATCH comes before PUT.
            if write.contains(where: { $0.0 == name }) { continue }
            var request = name == "delete" ? WriteBody() : body(of: operation, listing)
            if method != "post" {
                if let place { request.members += place } else { request.obstacle = "no attribute is its variable" }
            }
            if method == "put", listing.isOfResources { request.obstacle = "JSON:API changes with PATCH" }
            let fields = unsent(requiredFields(of: operation, items[path] ?? .null), listing.part)
            if let known = fields.section { request.members.append(("headers", known)) }
            request.doubts += fields.filter { $0.value == nil }.map { "needs \($0.words)" }
            if let lack = security.lack(of: operation, in: listing.part) {
                request.doubts.append("requires the security scheme \(lack)")
            }
            let title = "\(method.uppercased()) \(path)"
            if let obstacle = request.obstacle {
                offer.notes.append("not proposed: \(title): \(obstacle)")
                continue
            }
            let methods: [(String, JSONTree)] = method == "put" ? [("method", "PUT")] : []
            write.append((name, .object(methods + request.members)))
            words.append(title + (request.doubts.isEmpty ? "" : " (\(request.doubts.joined(separator: "; ")))"))
        }
        guard !write.isEmpty else { return }
        if listing.isOfResources, let types = listing.found.item["type"]?.values, types.count == 1 {
            write.insert(("type", .text(types[0])), at: 0)
        }
        for index in offer.fields.indices where isReadOnly(offer.fields[index].path, in: listing.found.item) {
            offer.fields[index].isReadOnly = true
        }
        offer.proposals.append(
            EntityOffer.Proposal(
                name: "write", value: .object(write), isOfSection: true,
                confidence: .medium("\(words.joined(separator: ", ")); writes are off until you uncomment them")))
    }

    /// Whether the document says that a member, or an object around it, is never sent.
    private func isReadOnly(_ path: [String], in item: ValueShape) -> Bool {
        path.indices.contains { item[Array(path[...$0])]?.isReadOnly == true }
    }

    /// Returns the path of an object for writes, as members of an operation: none if it follows from the listing's
    /// path, nil if nothing in an object gives the variable its value.
    private func place(of listing: Listing, _ offer: EntityOffer) -> [(String, JSONTree)]? {
        guard let (path, variable) = listing.itemPath, !offer.key.isEmpty else { return [] }
        let operations = writes(of: listing).filter { $0.path == path }
        let declared = operations.first.flatMap { shape(of: variable, $0.operation, items[path] ?? .null) }
        guard let value = value(of: variable, declared, in: offer, listing) else { return nil }
        let attribute = value.isKey ? "{key}" : "{object.\(value.attribute)}"
        let template = path.replacing(originalPath(listing), with: listing.path)
            .replacing("{\(variable)}", with: attribute)
        let slash = listing.path.hasSuffix("/") ? "/" : ""
        return template == "\(listing.path.trimmingSlash)/{key}\(slash)" ? [] : [("path", .text(template))]
    }

    /// Returns the path as written in the document.
    private func originalPath(_ listing: Listing) -> String {
        guard let variable = listing.variables.first, listing.variables.count == 1,
            let start = listing.path.range(of: "{parent."),
            let end = listing.path[start.upperBound...].firstIndex(of: "}")
        else { return listing.path }
        return listing.path.replacingCharacters(start.lowerBound..<listing.path.index(after: end), "{\(variable)}")
    }

    // MARK: Bodies

    /// How the body of a write is made.
    private struct WriteBody {
        /// The members of the operation in the section.
        var members: [(String, JSONTree)] = []
        /// Why it cannot be made; nil if it can.
        var obstacle: String?
        /// What a person should check.
        var doubts: [String] = []
    }

    /// Describes a request's body: its form, and the member that holds the object.
    private func body(of operation: JSONTree, _ listing: Listing) -> WriteBody {
        let (types, schema) = form(of: operation)
        let names = types.map { $0.lowercased() }
        func body(_ members: [(String, JSONTree)] = []) -> WriteBody { wrapped(schema, members, listing.found.item) }
        if names.isEmpty { return body() }
        if listing.isOfResources, names.contains(where: { $0.hasPrefix(Self.resources) }) { return WriteBody() }
        let json = names.filter { $0.contains("json") && !$0.hasPrefix(Self.resources) }
        if !listing.isOfResources, !json.isEmpty || names.contains("*/*") {
            if !json.isEmpty, !json.contains(where: { !$0.contains("json-patch") }) {
                return body([("format", "json_patch")])
            }
            if !json.isEmpty, !json.contains(where: { !$0.contains("merge-patch") }) {
                return body([("format", "merge_patch")])
            }
            return body()
        }
        if !listing.isOfResources, names.contains(where: { $0.hasPrefix(Self.urlEncoded) }) {
            return WriteBody(members: [("format", "form")])
        }
        return WriteBody(obstacle: "its body is \(names.prefix(2).joined(separator: " or "))")
    }

    private static let urlEncoded = "application/x-www-form-urlencoded"
    private static let resources = "application/vnd.api+json"

    /// Returns the media types that a request's body may have, and the schema of the JSON; no types without a body.
    private func form(of operation: JSONTree) -> (types: [String], schema: JSONTree?) {
        guard document.isSwagger2 else {
            let content = operation["requestBody"].map { document.resolve($0).value }?["content"]?.members ?? []
            let json = content.first { $0.name.lowercased().contains("json") } ?? content.first { $0.name == "*/*" }
            return (content.map(\.name), json?.value["schema"])
        }
        let types = (operation["consumes"] ?? document.root["consumes"])?.elements?.compactMap(\.text) ?? []
        let fields = described(operation, .null).filter { $0["in"]?.text == "formData" }
        if fields.contains(where: { $0["type"]?.text == "file" }) { return (["multipart/form-data"], nil) }
        if !fields.isEmpty {
            let isMultipart = types.contains { $0.hasPrefix("multipart/") } && !types.contains(Self.urlEncoded)
            return ([isMultipart ? "multipart/form-data" : Self.urlEncoded], nil)
        }
        guard let body = swaggerBody(of: operation) else { return ([], nil) }
        return (types.isEmpty ? ["application/json"] : types, body["schema"])
    }

    /// Finds the member of a body that holds the object, if the body is not the object itself.
    private func wrapped(_ schema: JSONTree?, _ members: [(String, JSONTree)], _ item: ValueShape) -> WriteBody {
        var result = WriteBody(members: members)
        guard let shape = schema.map(document.shape), !shape.properties.isEmpty else { return result }
        let names = Set(item.properties.map(\.name))
        let own = shape.properties.filter { names.contains($0.name) }
        let objects = shape.properties.filter { name, member in
            member.isObject && (shape.properties.count == 1 || member.properties.contains { names.contains($0.name) })
        }
        var inner = shape
        if own.isEmpty, objects.count == 1, let holder = objects.first {
            result.members.append(("wrap", .text(holder.name)))
            inner = holder.shape
            let others = shape.required.subtracting([holder.name]).sorted()
            if !others.isEmpty {
                result.obstacle = "its body needs \(others.joined(separator: ", ")) beside \(holder.name)"
            }
        }
        let unknown = inner.properties.filter { !names.contains($0.name) }.map(\.name)
        if !unknown.isEmpty {
            let more = unknown.count > 4 ? ", ..." : ""
            result.doubts.append("its body has \(unknown.prefix(4).joined(separator: ", "))\(more), which records lack")
        }
        return result
    }
}

extension String {
    fileprivate func range(of text: String) -> Range<String.Index>? { firstRange(of: text) }

    fileprivate func replacingCharacters(_ range: Range<String.Index>, _ text: String) -> String {
        self[..<range.lowerBound] + text + self[range.upperBound...]
    }
}
