internal import BridgeJSON
internal import BridgeKit

/// How an entity's objects are created, updated and deleted: the member `write` of its section.
struct WriteRule: Sendable {
    /// How a body says what changed.
    enum Format: String, Sendable, CaseIterable {
        /// The values as they are.
        case json
        /// RFC 7386.
        case mergePatch = "merge_patch"
        /// RFC 6902.
        case jsonPatch = "json_patch"
        /// The remote's whole object, read first, with the changes in it.
        case full
        /// `application/x-www-form-urlencoded`.
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
    /// Nil where it follows from the listing's path and the key.
    let path: PathTemplate?
    let listing: PathTemplate
    let query: [(name: String, value: String)]
    let headers: [(name: String, value: String)]
    let format: Format
    /// The members, one in the other, that a body has around the values.
    let wrap: [String]
    /// Values that each body has beside its own, by dotted paths: within `wrap`.
    let forced: JSONTree
    /// What each body has around the wrapped values.
    let envelope: JSONTree
    /// The text of a GraphQL mutation, whose variables the body brings; no variable of ours stands in it.
    let mutation: String?
    let preset: Preset?
    /// Where the reply has the object; first of all places that are tried.
    let records: [JSONPath]
    /// Whether the operation says where the reply has the object.
    let hasOwnRecords: Bool
    /// The record's member that takes the last part of Location, or what stands at ``replyKey``.
    let keyField: [String]?
    /// Where the reply has the new object's key and nothing else of it.
    let replyKey: JSONPath?
    /// The local attribute whose value goes into If-Match.
    let etagAttribute: String?
    /// The record's member that takes the reply's ETag.
    let etagField: [String]?
    /// Nil where none is sent.
    let idempotencyHeader: String?

    private static let methods: [WriteRequest.Operation: [String]] = [
        .create: ["POST", "PUT"], .update: ["PATCH", "PUT", "POST"], .delete: ["DELETE", "POST"],
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
        listing = try PathTemplate(
            String((request.section.string("path") ?? "").prefix { $0 != "?" }), option: "path")
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
        try Self.check(options, format, "write.\(what)")
        wrap = Self.names(options.string("wrap") ?? "")
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
        // What is said of the operation comes first, then what the listing has, then what the body was wrapped in.
        hasOwnRecords = options.has("records")
        var places: [JSONPath] = []
        if let text = options.string("records") {
            places = [try JSONPath(text, option: "write.\(what).records")]
        } else {
            if let text = request.section.string("records") { places.append(try JSONPath(text, option: "records")) }
            if preset == .jsonAPI, let text = preset?.records { places.append(try JSONPath(text, option: "preset")) }
            if !wrap.isEmpty { places.append(JSONPath(names: wrap)) }
            places.append(.root)
        }
        records = places
        keyField = options.string("key_field").map(Self.names)
        replyKey = try options.string("reply_key").map { try JSONPath($0, option: "write.\(what).reply_key") }
        guard replyKey == nil || keyField != nil else {
            throw BridgeError(
                .configuration, "write.\(what) has reply_key and no key_field",
                remedy: "set key_field to the record's member that the key is read from")
        }
        etagAttribute = write.string("if_match")
        etagField = write.string("etag_field").map(Self.names)
        let header = write.string("idempotency_header") ?? "Idempotency-Key"
        idempotencyHeader = header.isEmpty || operation == .delete ? nil : header
    }

    /// Refuses what the body would leave out without a word.
    private static func check(_ options: BridgeOptions, _ format: Format, _ option: String) throws {
        let isGraphQL = options.has("graphql")
        if isGraphQL, format != .json {
            throw BridgeError(
                .configuration, "\(option).format is \"\(format.rawValue)\" beside graphql",
                remedy: "leave it out: a mutation and its variables are sent as json")
        }
        guard options.has("envelope"), isGraphQL || format == .jsonPatch else { return }
        throw BridgeError(
            .configuration, "\(option).envelope has no place \(isGraphQL ? "beside graphql" : "around a json_patch")",
            remedy: isGraphQL
                ? "write what goes beside the values in graphql.variables"
                : "use format: json or merge_patch, or remove envelope: a JSON Patch is a list of changes")
    }

    /// What replies are to be (JSON:API 1.1, section 5.5: a server may refuse any other).
    var accept: String { preset?.accept ?? "application/json" }

    /// The media type of a body.
    var mediaType: String {
        preset == .jsonAPI && [.json, .full].contains(format) ? "application/vnd.api+json" : format.mediaType
    }

    /// Whether the body says something even where no value is sent.
    var hasOwnBody: Bool { !forced.members.isEmpty || !envelope.members.isEmpty || mutation != nil }

    /// Whether doing it twice is doing it once (RFC 9110, section 9.2.2).
    var isIdempotent: Bool { method == "DELETE" }

    /// The names of a dotted path; `\.` is a dot in a name.
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
