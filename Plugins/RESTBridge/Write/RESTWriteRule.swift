internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// The rules for creating, updating and deleting an entity's objects, from the section's member `write`.
struct RESTWriteRule: Sendable {
    /// The representation of changes in a body.
    enum Format: String, Sendable, CaseIterable {
        /// The plain values.
        case json
        /// A JSON Merge Patch (RFC 7386).
        case mergePatch = "merge_patch"
        /// A JSON Patch (RFC 6902).
        case jsonPatch = "json_patch"
        /// The remote's whole object, read first, with the changes applied.
        case full
        /// A form (`application/x-www-form-urlencoded`).
        case form

        var mediaType: String {
            switch self {
            case .json, .full: "application/json"
            case .mergePatch: "application/merge-patch+json"
            case .jsonPatch: "application/json-patch+json"
            case .form: "application/x-www-form-urlencoded"
            }
        }
    }

    let operation: WriteRequest.Operation
    let method: String
    /// The path, or nil if it follows from the listing's path and the key.
    let path: PathTemplate?
    let listing: PathTemplate
    let query: [(name: String, value: String)]
    let headers: [(name: String, value: String)]
    let format: Format
    /// Whether an update of a part of a nested object sends the whole nested object.
    let sendsNestedWhole: Bool
    /// The nested members and list elements around a body's values.
    let wrap: [WrapStep]
    /// Fixed values for each body, by dotted path inside `wrap`.
    let forced: JSONTree
    /// The structure around the wrapped values.
    let envelope: JSONTree
    /// The text of a GraphQL mutation, without template variables; its own variables are in the body.
    let mutation: String?
    let preset: Preset?
    /// The paths of the object in the reply, in the order in which they are tried.
    let records: [JSONPath]
    /// Whether the operation sets the path of the object in the reply.
    let hasOwnRecords: Bool
    /// The record's member for the last segment of Location, or for the value at ``replyKey``.
    let keyField: [String]?
    /// The path of the new object's key, in a reply that contains no more of the object.
    let replyKey: JSONPath?
    /// The local attribute whose value is sent as If-Match.
    let etagAttribute: String?
    /// The record's member for the reply's ETag.
    let etagField: [String]?
    /// The header field for the idempotency key, or nil to send none.
    let idempotencyHeader: String?

    private static let methods: [WriteRequest.Operation: [String]] = [
        .create: ["POST", "PUT", "PATCH"], .update: ["PATCH", "PUT", "POST"], .delete: ["DELETE", "POST", "PATCH"],
    ]

    init(_ request: WriteRequest) throws {
        operation = request.operation
        let what = request.operation.rawValue
        let write = request.section.object("write")
        guard let write, let options = write.object(what) else {
            throw BridgeError(
                .unsupported, "\(request.entity): the config does not say how to \(what) its objects",
                remedy: "add write: {\(what): {}} to its section rest")
        }
        preset = request.section.string("preset").flatMap(Preset.init(rawValue:))
        let graphQL = options.object("graphql")
        mutation = graphQL?.string("query")
        guard graphQL == nil || mutation != nil else {
            throw BridgeError(
                .configuration, "write.\(what).graphql.query is missing", remedy: "write the mutation's text there")
        }
        let valid = mutation == nil ? Self.methods[operation] ?? [] : ["POST"]
        method = options.string("method") ?? valid.first ?? "POST"
        guard valid.contains(method) else {
            throw BridgeError(
                .configuration, "write.\(what).method is \"\(method)\"", remedy: "use \(valid.joined(separator: ", "))")
        }
        path = try options.string("path").map { try PathTemplate($0, option: "write.\(what).path") }
        var listed = (request.section.string("path") ?? "").prefix { $0 != "?" }
        // The query of a template, as in /things{?since}, goes with its brace.
        if listed.last == "{" { listed.removeLast() }
        listing = try PathTemplate(String(listed), option: "path")
        query = Self.pairs(options.object("query"))
        headers = Self.pairs(options.object("headers"))
        let usual: Format = operation == .update && method == "PUT" ? .full : .json
        let name = options.string("format")
        guard let format = name.map(Format.init(rawValue:)) ?? usual else {
            throw BridgeError(
                .configuration, "write.\(what).format is \"\(name ?? "")\"",
                remedy: "use \(Format.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self.format = format
        try Self.check(options, format, "write.\(what)", isResources: preset == .jsonAPI)
        let isPlain = [.json, .form].contains(format)
        guard isPlain || !options.has("nested") else {
            throw BridgeError(
                .configuration, "write.\(what).nested has no effect with format: \(format.rawValue)",
                remedy: format == .full
                    ? "remove it: the whole object is sent" : "remove it: a patch says what changed, and nothing else")
        }
        sendsNestedWhole = try Self.isWhole(options, "write.\(what)") && isPlain && operation == .update
        wrap = try WrapStep.steps(options.string("wrap") ?? "", option: "write.\(what).wrap")
        var forced = JSONTree.object([])
        if case .object(let members) = options.object("forced").map(JSONTree.init) ?? .null {
            for (path, value) in members.all { forced.set(value, at: Self.names(path)[...]) }
        }
        self.forced = forced
        var envelope = options.withValue("envelope") { $0.map(JSONTree.init) } ?? .object([])
        if let graphQL {
            envelope =
                graphQL.withValue("variables") { $0.map(JSONTree.init) }.map { .object([("variables", $0)]) }
                ?? .object([])
            if let name = graphQL.string("operation") { envelope.set(.text(name), at: ["operationName"]) }
        }
        self.envelope = envelope
        // The operation's path comes first, then the listing's, then that of the body's wrapping.
        hasOwnRecords = options.has("records")
        var places: [JSONPath] = []
        if let text = options.string("records") {
            places = [try JSONPath(text, option: "write.\(what).records")]
        } else {
            if let text = request.section.string("records") { places.append(try JSONPath(text, option: "records")) }
            if preset == .jsonAPI, let text = preset?.records { places.append(try JSONPath(text, option: "preset")) }
            if !wrap.isEmpty { places.append(try WrapStep.path(wrap, option: "write.\(what).wrap")) }
            places.append(.root)
        }
        records = places
        keyField = options.string("key_field").map(Self.names)
        replyKey = try options.string("reply_key").map { try JSONPath($0, option: "write.\(what).reply_key") }
        guard replyKey == nil || keyField != nil else {
            throw BridgeError(
                .configuration, "write.\(what) has reply_key but no key_field",
                remedy: "set key_field to the record's member that the key is read from")
        }
        etagAttribute = write.string("if_match")
        etagField = write.string("etag_field").map(Self.names)
        let header = write.string("idempotency_header") ?? "Idempotency-Key"
        idempotencyHeader = header.isEmpty || operation == .delete ? nil : header
        guard operation != .delete || method != "PATCH" || hasOwnBody else {
            throw BridgeError(
                .configuration, "write.delete.method is PATCH, but nothing says what it changes",
                remedy: "set write.delete.forced, such as {deleted: true}, or envelope")
        }
    }

    /// Refuses options that the body would silently leave out.
    private static func check(
        _ options: BridgeOptions, _ format: Format, _ option: String, isResources: Bool
    ) throws {
        let isGraphQL = options.has("graphql")
        if isGraphQL, format != .json {
            throw BridgeError(
                .configuration, "\(option).format is \"\(format.rawValue)\" with graphql",
                remedy: "leave it out: a mutation and its variables are sent as json")
        }
        if isResources, format == .full {
            throw BridgeError(
                .configuration, "\(option) sends the whole object, but JSON:API takes only what changed",
                remedy: "remove format, and set method to PATCH")
        }
        guard options.has("envelope"), isGraphQL || format == .jsonPatch else { return }
        throw BridgeError(
            .configuration, "\(option).envelope cannot be used \(isGraphQL ? "with graphql" : "with a json_patch")",
            remedy: isGraphQL
                ? "write what goes beside the values in graphql.variables"
                : "use format: json or merge_patch, or remove envelope: a JSON Patch is a list of changes")
    }

    private static func isWhole(_ options: BridgeOptions, _ option: String) throws -> Bool {
        switch options.string("nested") {
        case nil, "whole": return true
        case "part": return false
        case let name?:
            throw BridgeError(.configuration, "\(option).nested is \"\(name)\"", remedy: "use whole or part")
        }
    }

    /// The value of Accept; a server may refuse any other (JSON:API 1.1, section 5.5).
    var accept: String { preset?.accept ?? "application/json" }

    /// The media type of a body.
    var mediaType: String {
        preset == .jsonAPI && format == .json ? "application/vnd.api+json" : format.mediaType
    }

    /// Whether the body has content even if no value is sent.
    var hasOwnBody: Bool { !forced.members.isEmpty || !envelope.members.isEmpty || mutation != nil }

    /// Whether repeating the request has no further effect (RFC 9110, section 9.2.2).
    var isIdempotent: Bool { method == "DELETE" }

    /// Whether the body is a JSON:API document derived from the values, without another structure from the section.
    var isResource: Bool { preset == .jsonAPI && format == .json && wrap.isEmpty && envelope.members.isEmpty }

    /// Whether the operation addresses a single object.
    var isOfItem: Bool { operation != .create || method != "POST" }

    /// Whether the update's URL is likely to return the object; a path for POST may address something else.
    var isReadWhereWritten: Bool { mutation == nil && (path == nil || method != "POST") }

    /// Splits a dotted path into names; `\.` is a dot inside a name.
    static func names(_ path: String) -> [String] {
        guard !path.isEmpty else { return [] }
        var names = [""]
        var isEscaped = false
        for character in path {
            if !isEscaped, character == "\\" {
                isEscaped = true
            } else if !isEscaped, character == "." {
                names.append("")
            } else {
                names[names.count - 1].append(character)
                isEscaped = false
            }
        }
        return names
    }

    private static func pairs(_ options: BridgeOptions?) -> [(name: String, value: String)] {
        (options?.names ?? []).flatMap { name in
            (options?.strings(name) ?? []).map { (name: name, value: $0) }
        }
    }
}
