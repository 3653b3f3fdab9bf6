internal import BridgeContract
internal import BridgeJSON

extension OpenAPIReader {
    /// Fills the variables of paths from the preceding entity, or reports the missing ones.
    func resolvePaths(_ offers: inout [(offer: EntityOffer, listing: Listing)]) {
        let parents = Dictionary(grouping: offers.indices.filter { offers[$0].listing.variables.isEmpty }) {
            offers[$0].listing.path.trimmingSlash
        }
        let links = links()
        // The offers by the path of their objects, from which links lead.
        let sources = Dictionary(grouping: offers.indices) { offers[$0].listing.itemPath?.path }
        for index in offers.indices {
            let listing = offers[index].listing
            var obstacles: [String] = []
            if !listing.missing.isEmpty {
                obstacles.append(
                    "the request needs values for \(listing.missing.joined(separator: ", ")): set them under \(listing.method == "post" ? "body" : "query")"
                )
            }
            if listing.variables.count == 1, let variable = listing.variables.first {
                let prefix = listing.path.components(before: "{\(variable)}")
                let before = parents[prefix.trimmingSlash]?.first { $0 != index && offers[$0].offer.obstacle == nil }
                let linked = linked(variable, listing, links, offers, sources)
                let shape = shape(of: variable, listing.operation, items[listing.path] ?? .null)
                let own = before.flatMap { value(of: variable, shape, in: offers[$0].offer, offers[$0].listing) }
                if let parent = linked?.parent ?? before, let value = linked?.value ?? own {
                    let target = offers[parent].offer.name
                    let name = target.prefix(1).lowercased() + target.dropFirst()
                    offers[index].offer.parent = name
                    offers[index].offer.relationships.append(
                        EntityOffer.Relationship(
                            name: name, target: target, isToMany: false, path: [name],
                            confidence: confidence(of: value, for: variable, target, isLinked: linked != nil)))
                    offers[index].listing.path = listing.path.replacing(
                        "{\(variable)}", with: "{parent.\(value.attribute)}")
                } else {
                    let names = before.map { ", and no attribute of \(offers[$0].offer.name) is named so" } ?? ""
                    obstacles.append("its path needs a value for \(variable)\(names): set it under parameters")
                }
            } else if listing.variables.count > 1 {
                obstacles.append(
                    "its path needs values for \(listing.variables.joined(separator: ", ")): set them under parameters")
            }
            for obstacle in obstacles { offers[index].offer.add(obstacle: obstacle) }
        }
    }

    /// Returns how certain it is that each object of `target` has such a list, at the path with this value.
    private func confidence(
        of value: VariableValue, for variable: String, _ target: String, isLinked: Bool
    ) -> Confidence {
        if isLinked { return .high("a link of the document leads from \(target) to it") }
        guard value.isSure else {
            return .medium("each \(target) has such a list, where \(variable) may be its \(value.attribute)")
        }
        return .high("each \(target) has such a list")
    }

    // MARK: Links

    /// A link of OpenAPI 3: the reply of one operation has the value of another one's parameter.
    struct Link {
        /// The path of the operation that has the link.
        let path: String
        let variable: String
        /// The member of the reply; nil for the variable of the path itself.
        let member: String?

        /// Reads a parameter and its value, such as `$response.body#/id`; nil for a value of another kind.
        init?(_ parameter: String, _ value: String?, from path: String) {
            self.path = path
            variable = parameter.hasPrefix("path.") ? String(parameter.dropFirst(5)) : parameter
            guard let value else { return nil }
            let body = "$response.body#/"
            if value.hasPrefix(body), !value.dropFirst(body.count).contains("/") {
                member = String(value.dropFirst(body.count))
            } else if value.hasPrefix("$request.path.") {
                member = nil
            } else {
                return nil
            }
        }
    }

    /// Returns the links from replies with one object, by what they lead to: an operation's id, or its path.
    private func links() -> [String: [Link]] {
        var found: [String: [Link]] = [:]
        for (path, item) in paths {
            let responses = item["get"].map { document.resolve($0).value["responses"] }??.members ?? []
            for response in responses where response.name.hasPrefix("2") {
                for link in document.resolve(response.value).value["links"]?.members ?? [] {
                    let link = document.resolve(link.value).value
                    guard let target = link["operationId"]?.text ?? link["operationRef"]?.text.flatMap(Self.path) else {
                        continue
                    }
                    let parameters = link["parameters"]?.members ?? []
                    found[target, default: []] += parameters.compactMap { Link($0.name, $0.value.text, from: path) }
                }
            }
        }
        return found
    }

    /// Returns the path in a reference to an operation of the same document.
    private static func path(_ reference: String) -> String? {
        guard reference.hasPrefix("#/paths/") else { return nil }
        return reference.dropFirst("#/paths/".count).split(separator: "/").first.map {
            String($0).replacing("~1", with: "/").replacing("~0", with: "~")
        }
    }

    /// Returns the entity from whose objects a link leads to a listing, and the attribute with the variable's value.
    private func linked(
        _ variable: String, _ listing: Listing, _ links: [String: [Link]],
        _ offers: [(offer: EntityOffer, listing: Listing)], _ sources: [String?: [Int]]
    ) -> (parent: Int, value: VariableValue)? {
        let all = (listing.operation["operationId"]?.text.flatMap { links[$0] } ?? []) + (links[listing.path] ?? [])
        for link in all where link.variable == variable {
            let parent = sources[link.path]?.first { index in
                let source = offers[index].listing
                return source.variables.isEmpty && offers[index].offer.obstacle == nil && source.path != listing.path
            }
            guard let parent else { continue }
            guard let member = link.member else {
                guard let key = offers[parent].listing.itemPath?.variable,
                    let value = value(of: key, nil, in: offers[parent].offer, offers[parent].listing)
                else { continue }
                return (parent, value)
            }
            guard offers[parent].listing.found.item[member]?.isScalar == true else { continue }
            return (parent, VariableValue(attribute: LocalName.make([member])))
        }
        return nil
    }

    // MARK: Servers and Security

    /// Returns the parameters in a listing's query whose values are variables, which the bridge's options have.
    func secretQuery(of listing: Listing) -> [(String, JSONTree)] {
        let authenticated = security.queryName(of: listing.part)
        return listing.secrets.compactMap { name in
            let variable = SecretGuess.variable([name])
            guard name != authenticated, security.parameters.contains(where: { $0.0 == variable }) else { return nil }
            return (name, .text("{\(variable)}"))
        }
    }

    /// Writes the paths of operations with servers of their own, and finds the part of the API with an operation's
    /// authentication, or says what the options do not satisfy.
    func resolveServers(_ offers: inout [(offer: EntityOffer, listing: Listing)]) {
        var names: [String: Set<String>] = [:]
        for index in offers.indices {
            let listing = offers[index].listing
            if let path = SecurityGuess.path(of: listing.servers, in: document) {
                offers[index].listing.prefix = path
            } else {
                let server = ServerAddress.shown(listing.servers?.elements?.first?["url"]?.text ?? "")
                offers[index].offer.add(obstacle: "it is at another server, \(server): give it a bridge with that url")
            }
            let part = security.part(of: listing.operation, writes: writes(of: listing).map(\.operation), &names)
            offers[index].listing.part = part
            offers[index].offer.part = part?.name
            if part == nil, let lack = security.lack(of: listing.operation) {
                offers[index].offer.notes.append(
                    "it requires the security scheme \(lack), which is not the auth of the bridge: give it a bridge with that one"
                )
            }
        }
    }
}

extension EntityOffer {
    /// Adds a reason why the entity cannot be synced as it is.
    mutating func add(obstacle new: String) { obstacle = obstacle.map { "\($0); \(new)" } ?? new }
}
