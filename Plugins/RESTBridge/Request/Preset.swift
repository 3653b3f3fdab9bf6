/// A usual way to write JSON APIs, with what follows from it.
enum Preset: String, CaseIterable, Sendable {
    case jsonAPI = "json_api"
    case hal
    case odata
    case graphQL = "graphql"
    case ndjson

    /// Where the records are, unless the config says otherwise; nil: found in the first reply.
    var records: String? {
        switch self {
        case .jsonAPI: "$.data"
        case .odata: "$.value"
        case .hal, .graphQL, .ndjson: nil
        }
    }

    /// The media types to ask for.
    var accept: String {
        switch self {
        case .jsonAPI: "application/vnd.api+json, application/json"
        case .hal: "application/hal+json, application/json"
        case .odata: "application/json"
        case .graphQL: "application/graphql-response+json, application/json"
        case .ndjson: "application/x-ndjson, application/json"
        }
    }

    /// Header fields besides.
    var headers: [(name: String, value: String)] {
        self == .odata ? [(name: "OData-MaxVersion", value: "4.0")] : []
    }
}
