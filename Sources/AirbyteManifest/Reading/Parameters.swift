internal import Model

/// Passes `$parameters` down to the components below, and adds the types that a manifest may leave out.
///
/// The rules are those of the CDK's ManifestComponentTransformer.
enum Parameters {
    static let member = "$parameters"

    /// Parameters that contain other parameters multiply; a large manifest has a few hundred thousand components.
    private static let maxComponents = 2_000_000

    /// - Throws: ``ManifestFault`` if the parameters multiply endlessly.
    static func propagated(_ component: ConfigValue) throws -> ConfigValue {
        var count = 0
        return try propagated(component, field: "", inherited: [], 0, &count)
    }

    private static func propagated(
        _ component: ConfigValue, field: String, inherited: [(key: String, value: ConfigValue)], _ depth: Int,
        _ count: inout Int
    ) throws -> ConfigValue {
        guard var members = component.members else { return component }
        count += 1 + members.count + inherited.count
        guard count < maxComponents, depth < 2 * ManifestText.maxDepth else {
            throw ManifestFault("the manifest's $parameters make too many components")
        }
        if component["type"] == nil,
            let type = component["class_name"] == nil
                ? usualTypes[field] : "Custom" + (field.split(separator: ".").last ?? "")
        {
            members.append(("type", .string(type)))
        }
        var current = inherited
        for parameter in component[member]?.members ?? [] { set(parameter, in: &current) }
        members.removeAll { $0.key == member }
        let object = ConfigValue.object(members)
        if let type = object["type"], type == "object" || type.string == nil { return object }
        guard object.type != nil else {
            return .object(
                try members.map { entry in
                    guard entry.value.members != nil, entry.value.type != nil else { return entry }
                    let value = try propagated(
                        entry.value, field: field, inherited: current, depth + 1, &count)
                    return (entry.key, value)
                })
        }
        for (key, value) in current where !(object[key]?.isTruthy ?? false) { set((key, value), in: &members) }
        let type = object.type ?? ""
        for index in members.indices {
            // A parameter with the field's name would contain itself endlessly.
            let passed = current.filter { $0.key != members[index].key }
            let field = "\(type).\(members[index].key)"
            if members[index].value.members != nil {
                members[index].value = try propagated(
                    members[index].value, field: field, inherited: passed, depth + 1, &count)
            } else if let elements = members[index].value.array {
                members[index].value = .array(
                    try elements.map { try propagated($0, field: field, inherited: passed, depth + 1, &count) })
            }
        }
        if !current.isEmpty { members.append((member, .object(current))) }
        return .object(members)
    }

    private static func set(
        _ entry: (key: String, value: ConfigValue), in members: inout [(key: String, value: ConfigValue)]
    ) {
        if let index = members.firstIndex(where: { $0.key == entry.key }) {
            members[index].value = entry.value
        } else {
            members.append(entry)
        }
    }

    private static let usualTypes = [
        "CompositeErrorHandler.error_handlers": "DefaultErrorHandler",
        "DatetimeBasedCursor.end_datetime": "MinMaxDatetime",
        "DatetimeBasedCursor.end_time_option": "RequestOption",
        "DatetimeBasedCursor.start_datetime": "MinMaxDatetime",
        "DatetimeBasedCursor.start_time_option": "RequestOption",
        "DeclarativeSource.streams": "DeclarativeStream",
        "DeclarativeStream.retriever": "SimpleRetriever",
        "DeclarativeStream.schema_loader": "JsonFileSchemaLoader",
        "DynamicDeclarativeStream.stream_template": "DeclarativeStream",
        "DynamicDeclarativeStream.components_resolver": "ConfigComponentsResolver",
        "HttpComponentsResolver.retriever": "SimpleRetriever",
        "HttpComponentsResolver.components_mapping": "ComponentMappingDefinition",
        "ConfigComponentsResolver.stream_config": "StreamConfig",
        "ConfigComponentsResolver.components_mapping": "ComponentMappingDefinition",
        "DefaultErrorHandler.response_filters": "HttpResponseFilter",
        "DefaultPaginator.page_size_option": "RequestOption",
        "DefaultPaginator.page_token_option": "RequestOption",
        "DpathExtractor.record_expander": "RecordExpander",
        "HttpRequester.error_handler": "DefaultErrorHandler",
        "ListPartitionRouter.request_option": "RequestOption",
        "ParentStreamConfig.request_option": "RequestOption",
        "ParentStreamConfig.stream": "DeclarativeStream",
        "RecordSelector.extractor": "DpathExtractor",
        "RecordSelector.record_filter": "RecordFilter",
        "SimpleRetriever.paginator": "NoPagination",
        "SimpleRetriever.record_selector": "RecordSelector",
        "SimpleRetriever.requester": "HttpRequester",
        "SubstreamPartitionRouter.parent_stream_configs": "ParentStreamConfig",
        "AddFields.fields": "AddedFieldDefinition",
        "DynamicSchemaLoader.retriever": "SimpleRetriever",
    ]
}
