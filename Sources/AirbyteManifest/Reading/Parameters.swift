internal import Model

/// Passes `$parameters` down to the components below, and adds the types that a manifest may leave out.
///
/// The rules are those of the CDK's ManifestComponentTransformer.
enum Parameters {
    static let member = "$parameters"

    static func propagated(
        _ component: ConfigValue, field: String = "", inherited: [(key: String, value: ConfigValue)] = []
    ) -> ConfigValue {
        guard var members = component.members else { return component }
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
                members.map { entry in
                    entry.value.members != nil && entry.value.type != nil
                        ? (entry.key, propagated(entry.value, field: field, inherited: current)) : entry
                })
        }
        for (key, value) in current where !(object[key]?.isTruthy ?? false) { set((key, value), in: &members) }
        let type = object.type ?? ""
        for index in members.indices {
            // A parameter named like the field would contain itself without end.
            let passed = current.filter { $0.key != members[index].key }
            let field = "\(type).\(members[index].key)"
            if members[index].value.members != nil {
                members[index].value = propagated(members[index].value, field: field, inherited: passed)
            } else if let elements = members[index].value.array {
                members[index].value = .array(
                    elements.map { propagated($0, field: field, inherited: passed) })
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
