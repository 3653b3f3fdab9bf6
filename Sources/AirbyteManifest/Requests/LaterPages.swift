internal import Model

/// Decides which parameters go with the requests after the first page, once all are known.
struct LaterPages {
    let draft: EntityDraft

    /// - Parameters:
    ///   - retriever: The stream's retriever, which may send some parameters with the first page only.
    ///   - cursor: The stream's cursor.
    func apply(_ retriever: ConfigValue, cursor: ConfigValue?) {
        guard let paging = draft.setting("paging"), let style = paging["style"]?.string else { return }
        let isLink = ["next_url", "link_header"].contains(style)
        let flag = "ignore_stream_slicer_parameters_on_paginated_requests"
        if retriever[flag]?.isTruthy == true, Self.hasOptions(retriever["partition_router"]) || Self.hasOptions(cursor)
        {
            // A link is requested as it is; then only Airbyte's other parameters are missing.
            if isLink, retriever["requester"]?["request_parameters"]?.isTruthy != true { return }
            draft.doubt("\(flag): later pages are requested with other parameters than Airbyte's")
        } else if isLink, draft.setting("query")?.members?.isEmpty == false {
            draft.add("keep_query", true, to: "paging")
        }
    }

    /// Whether a cursor or a partition router adds something to the requests.
    private static func hasOptions(_ slicer: ConfigValue?) -> Bool {
        for router in slicer?.array ?? [slicer ?? .null] {
            let parts = [router] + (router["parent_stream_configs"]?.array ?? [])
            let names = ["request_option", "start_time_option", "end_time_option", "start_value_option"]
            if parts.contains(where: { part in names.contains { part[$0]?.isTruthy == true } }) { return true }
        }
        return false
    }
}
