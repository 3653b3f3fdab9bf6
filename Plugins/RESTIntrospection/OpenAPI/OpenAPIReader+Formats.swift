internal import BridgeJSON

/// The form in which replies come, as their media types say.
enum ReplyFormat: Equatable {
    case json, csv, xml
    /// Another form, by its media type.
    case other(String)

    /// - Parameter mediaTypes: All that a reply may have; without any, it is JSON.
    init(_ mediaTypes: [String]) {
        let types = mediaTypes.map { $0.lowercased().prefix { $0 != ";" }.filter { $0 != " " } }
        let known = types.map(Self.known)
        // A type of a vendor's own, and `*/*`, may be JSON.
        guard let first = types.first, !known.contains(.json) else {
            self = .json
            return
        }
        self = known.contains(.csv) ? .csv : known.contains(.xml) ? .xml : .other(first)
    }

    private static func known(_ type: String) -> ReplyFormat {
        let others = [
            "text/html", "text/plain", "text/calendar", "text/event-stream", "application/pdf", "application/zip",
            "application/gzip", "application/octet-stream", "application/yaml", "application/xhtml+xml",
            "application/protobuf", "application/x-protobuf", "application/msgpack", "application/vnd.ms-excel",
        ]
        if type.contains("json") || type.contains("javascript") { return .json }
        if type.contains("csv") || type.contains("comma-separated") { return .csv }
        if others.contains(type) || type.hasPrefix("image/") || type.contains("openxmlformats") { return .other(type) }
        return type.hasSuffix("/xml") || type.hasSuffix("+xml") ? .xml : .json
    }
}

extension OpenAPIReader {
    /// Returns the media types of an operation's replies.
    ///
    /// - Parameter response: The description of its successful reply.
    func mediaTypes(of operation: JSONTree, _ response: JSONTree) -> [String] {
        guard document.isSwagger2 else { return (response["content"]?.members ?? []).map(\.name) }
        let types = operation["produces"] ?? document.root["produces"]
        return types?.elements?.compactMap(\.text) ?? []
    }

    /// Returns a note on the listings whose replies the bridge cannot read.
    package func foreignReplies() -> [String] {
        let found = paths.compactMap { path, item -> String? in
            guard !isItem(path), let operation = item["get"].map({ document.resolve($0).value }),
                let reply = reply(of: operation),
                let listing = ListingFinder.find(reply.shape, subject: subject(of: path)),
                let reason = Self.obstacle(reply.format, listing)
            else { return nil }
            return "GET \(path) (\(reason))"
        }
        guard !found.isEmpty else { return [] }
        let shown = found.prefix(4).joined(separator: ", ")
        let more = found.count > 4 ? " and \(found.count - 4) more" : ""
        return ["left out, because of the form of their replies: \(shown)\(more)"]
    }

    /// Returns why records in this form cannot be read; nil if they can.
    static func obstacle(_ format: ReplyFormat, _ listing: FoundListing) -> String? {
        switch format {
        case .json: nil
        case .csv: listing.records == nil ? nil : "CSV with the records inside an object"
        case .xml: listing.isMap ? "XML with an object in place of a list" : nil
        case .other(let type): type
        }
    }
}

/// Resources of JSON:API.
extension OpenAPIReader {
    /// Whether media types are those of JSON:API, and not of JSON too.
    static func areOfJSONAPI(_ types: [String]) -> Bool {
        let names = types.map { String($0.lowercased().prefix { $0 != ";" }) }
        return names.contains("application/vnd.api+json") && !names.contains("application/json")
    }
}

extension ValueShape {
    /// Whether it is a resource of JSON:API (1.1, section 7.2).
    var isResource: Bool {
        self["type"] != nil && self["id"] != nil && (self["attributes"] != nil || self["relationships"] != nil)
    }

    /// The shape that the preset json_api makes of a resource: its attributes and related objects are members.
    var flattenedResource: ValueShape {
        var result = self
        result.properties = []
        func add(_ name: String, _ shape: ValueShape) {
            if result[name] == nil { result.properties.append((name, shape)) }
        }
        for (name, shape) in properties {
            switch name {
            case "attributes":
                for (inner, shape) in shape.properties { add(inner, shape) }
                result.required.formUnion(shape.required)
            case "relationships":
                for (inner, shape) in shape.properties {
                    if let data = shape["data"] { add(inner, data) }
                }
            default: add(name, shape)
            }
        }
        return result
    }
}
