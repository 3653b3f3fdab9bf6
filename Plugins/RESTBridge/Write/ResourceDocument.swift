internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// The body of a JSON:API write (1.1, section 9), with values as attributes and references as resource identifiers.
struct ResourceDocument {
    /// The resource types of the object and of its related objects.
    struct Types {
        var own: String?
        /// The types by relationship; has several types if the resources that were read differ.
        var related: [String: Set<String>] = [:]
        /// The relationships whose type the section sets.
        private let told: Set<String>

        /// Creates the types from the section.
        init(_ write: BridgeOptions?) {
            own = write?.string("type")
            let types = write?.object("types")
            for name in types?.names ?? [] { related[name] = types?.string(name).map { [$0] } }
            told = Set(related.keys)
        }

        /// Adds the types found in a document.
        ///
        /// Those set by the section take precedence.
        mutating func learn(from document: JSONTree) {
            let data = document["data"]
            for resource in data?.elements ?? [data].compactMap(\.self) {
                own = own ?? resource["type"]?.text
                for (name, relationship) in resource["relationships"]?.members ?? [] where !told.contains(name) {
                    let linkage = relationship["data"]
                    let types = (linkage?.elements ?? [linkage].compactMap(\.self)).compactMap { $0["type"]?.text }
                    related[name, default: []].formUnion(types)
                }
            }
        }

        func isKnown(_ name: String) -> Bool { related[name].map { !$0.isEmpty } ?? false }
    }

    let types: Types
    /// A description of the write, for messages.
    let asked: String

    /// Returns the relationship that a path addresses: its own name, or that of the object whose member `id` it is.
    static func relationship(_ path: [String]) -> String? {
        path.count == 1 || path.count == 2 && path[1] == "id" ? path[0] : nil
    }

    /// Returns the document, with keys replaced by identifiers.
    ///
    /// - Throws: ``BridgeError`` if a type is unknown.
    func make(values: JSONTree, relationships: Set<String>, key: String?) throws -> JSONTree {
        guard let type = types.own else {
            throw BridgeError(
                .configuration, "\(asked): the type of its resource is not known: nothing that was read has one",
                remedy: "set write.type, such as articles")
        }
        var data = JSONTree.object([("type", .text(type))])
        if let key = key ?? values["id"]?.plainText { data.set(.text(key), at: ["id"]) }
        for (name, value) in values.members where name != "id" && name != "type" {
            if relationships.contains(name) {
                data.set(try linkage(value, name), at: ["relationships", name, "data"])
            } else {
                data.set(value, at: ["attributes", name])
            }
        }
        return .object([("data", data)])
    }

    private func linkage(_ value: JSONTree, _ name: String) throws -> JSONTree {
        switch value["id"] ?? value {
        case .null: return .null
        case .array(let elements): return .array(try elements.map { try linkage($0, name) })
        case let id:
            guard let id = id.plainText else {
                throw BridgeError(
                    .configuration, "\(asked): what \(name) refers to has no id",
                    remedy: "let the target's key come from id")
            }
            return .object([("type", .text(try type(of: name))), ("id", .text(id))])
        }
    }

    private func type(of name: String) throws -> String {
        let known = types.related[name] ?? []
        if let only = known.first, known.count == 1 { return only }
        let words =
            known.isEmpty
            ? "no object that was read has one"
            : "objects that were read have \(known.sorted().joined(separator: ", "))"
        throw BridgeError(
            .configuration, "\(asked): the type of what \(name) refers to is not known: \(words)",
            remedy: "set write.types: {\(name): TYPE}, such as people")
    }
}

extension RESTObjectWriter {
    /// Returns the body for a preset that defines it, unless the section sets another structure.
    ///
    /// Types missing from the section are taken from the remote's objects: this object, or those of its listing.
    ///
    /// - Throws: ``BridgeError``; nothing was sent.
    func resourceDocument(_ url: HTTPURL) throws -> (bytes: [UInt8], mediaType: String) {
        let whole = rule.operation == .update && rule.sendsNestedWhole ? try wholeNested(url) : nil
        let values = Changes(request).made(in: whole).merging(rule.forcedValues(variables))
        let relationships = Set(request.references.compactMap(ResourceDocument.relationship))
        let wanted = relationships.filter { name in
            let value = values[name].map { $0["id"] ?? $0 }
            return value != nil && value != .null && value != .array([])
        }
        let types = try types(of: wanted, url)
        let names = request.key.names
        let key = rule.isOfItem && names.count == 1 ? request.key.string(names[0]) : nil
        let document = try ResourceDocument(types: types, asked: asked)
            .make(values: values, relationships: relationships, key: key)
        return (Array(document.json.utf8), rule.mediaType)
    }

    /// Returns the known types of the object and of its references, with as few reads as possible.
    private func types(of wanted: Set<String>, _ url: HTTPURL) throws -> ResourceDocument.Types {
        var types = ResourceDocument.Types(request.section.object("write"))
        var places = rule.operation == .create ? [] : [url.text]
        if let path = (try? rule.listing.expand(address)) ?? nil, let listing = base.appending(path: path) {
            places.append(listing.text)
        }
        for place in places where types.own == nil || !wanted.allSatisfy(types.isKnown) {
            let exchange = client.start(HTTPRequest(url: place, headers: [(name: "Accept", value: rule.accept)]))
            let response = try exchange.response()
            guard (200..<300).contains(response.status) else {
                let error = try exchange.statusError(asked: "reading the types of resources before \(asked)")
                if error.isRetryable { throw error }
                continue
            }
            if let document = try? JSONTree(parsing: exchange.body(), what: asked) { types.learn(from: document) }
        }
        return types
    }
}
