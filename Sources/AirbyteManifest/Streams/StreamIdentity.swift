internal import Model

/// What determines the records of a stream: two streams of one name with the same identity are one entity.
///
/// `$parameters` become members of every component below, so only the members that a component of its type has count, and those
/// parameters that its texts name. Error handlers do not count: they matter if the API refuses a request.
enum StreamIdentity {
    static func of(_ stream: ConfigValue) -> ConfigValue { part(stream, parameters: []) }

    private static func part(_ value: ConfigValue, parameters: [(key: String, value: ConfigValue)]) -> ConfigValue {
        switch value {
        case .string(let text): return used(text, parameters)
        case .array(let elements): return .array(elements.map { part($0, parameters: parameters) })
        case .object(let members):
            let parameters = value[Parameters.member]?.members ?? parameters
            let known = value.type.flatMap { fields[$0] }
            let own = members.filter { key, value in
                guard let known else { return key != Parameters.member }
                return (known.contains(key) || key == "type") && value.isTruthy && !isUsual(key, value)
            }
            return .object(
                own.map { ($0.key, part($0.value, parameters: parameters)) }.sorted { $0.0 < $1.0 })
        default: return value
        }
    }

    /// Whether a member says what holds without it.
    private static func isUsual(_ key: String, _ value: ConfigValue) -> Bool {
        switch value.string ?? value.type {
        case "GET": key == "http_method"
        case "JsonDecoder": key == "decoder"
        case "NoPagination": key == "paginator"
        case "NoAuth": key == "authenticator"
        default: false
        }
    }

    /// The text, with the values of the parameters that it names.
    private static func used(_ text: String, _ parameters: [(key: String, value: ConfigValue)]) -> ConfigValue {
        guard text.contains("parameters") else { return .string(text) }
        let named = parameters.filter { text.contains($0.key) }.sorted { $0.key < $1.key }
        return [.string(text), .object(named)]
    }

    /// The members of components that matter to the records, by type; other components count with all members.
    private static let fields: [String: Set<String>] = [
        "DeclarativeStream": ["retriever", "incremental_sync", "transformations"],
        "SimpleRetriever": [
            "requester", "decoder", "record_selector", "paginator", "partition_router",
            "ignore_stream_slicer_parameters_on_paginated_requests",
        ],
        "HttpRequester": [
            "url_base", "url", "path", "http_method", "authenticator", "fetch_properties_from_endpoint",
            "query_properties", "request_parameters", "request_headers", "request_body_data", "request_body_json",
            "request_body",
        ],
        "RecordSelector": ["extractor", "record_filter", "transform_before_filtering"],
        "DpathExtractor": ["field_path", "record_expander"],
        "RecordFilter": ["condition"],
        "DefaultPaginator": ["pagination_strategy", "page_size_option", "page_token_option"],
        "CursorPagination": ["cursor_value", "page_size", "stop_condition"],
        "OffsetIncrement": ["page_size", "inject_on_first_request"],
        "PageIncrement": ["page_size", "start_from_page", "inject_on_first_request"],
        "RequestOption": ["inject_into", "field_name", "field_path"],
        "RequestPath": [],
        "ListPartitionRouter": ["cursor_field", "values", "request_option"],
        "SubstreamPartitionRouter": ["parent_stream_configs"],
        "ParentStreamConfig": [
            "stream", "parent_key", "partition_field", "request_option", "incremental_dependency", "extra_fields",
            "lazy_read_pointer",
        ],
        "DatetimeBasedCursor": [
            "clamping", "cursor_field", "cursor_datetime_formats", "start_datetime", "start_time_option",
            "end_datetime", "end_time_option", "datetime_format", "is_data_feed", "is_client_side_incremental",
            "is_compare_strictly", "lookback_window", "partition_field_end", "partition_field_start", "step",
        ],
        "MinMaxDatetime": ["datetime", "datetime_format", "max_datetime", "min_datetime"],
        "AddFields": ["fields", "condition"],
        "AddedFieldDefinition": ["path", "value", "value_type"],
        "RemoveFields": ["condition", "field_pointers"],
        "DpathFlattenFields": ["field_path", "delete_origin_value", "replace_record", "key_transformation"],
        "BearerAuthenticator": ["api_token"],
        "ApiKeyAuthenticator": ["api_token", "header", "inject_into"],
        "BasicHttpAuthenticator": ["username", "password"],
        "SelectiveAuthenticator": ["authenticator_selection_path", "authenticators"],
    ]
}
