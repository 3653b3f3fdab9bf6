/// A common convention for JSON APIs, with its defaults.
enum Preset: String, CaseIterable, Sendable {
    case jsonAPI = "json_api"
    case hal
    case odata
    case graphQL = "graphql"
    case ndjson

    /// The path of the records unless the config sets one, or nil to detect it in the first reply.
    var records: String? {
        switch self {
        case .jsonAPI: "$.data"
        case .odata: "$.value"
        case .hal, .graphQL, .ndjson: nil
        }
    }

    /// The value of Accept.
    var accept: String {
        switch self {
        case .jsonAPI: "application/vnd.api+json, application/json"
        case .hal: "application/hal+json, application/json"
        case .odata: "application/json"
        case .graphQL: "application/graphql-response+json, application/json"
        case .ndjson: "application/x-ndjson, application/json"
        }
    }

    /// Whether its records are flattened before they are handed over.
    var shapesRecords: Bool {
        switch self {
        case .jsonAPI, .hal, .odata: true
        case .graphQL, .ndjson: false
        }
    }

    /// Additional header fields.
    var headers: [(name: String, value: String)] {
        self == .odata ? [(name: "OData-MaxVersion", value: "4.0")] : []
    }
}
