internal import Model

/// Translates a paginator of dlt into `paging`.
struct DLTPaging {
    let draft: EntityDraft

    func apply(_ given: ConfigValue) {
        let type = given.string ?? given["type"]?.string ?? "auto"
        var read: Set<String> = ["type"]
        func value(_ name: String) -> ConfigValue? {
            read.insert(name)
            return given[name].flatMap { $0 == .null ? nil : $0 }
        }
        func place(_ name: String, _ path: String?) -> (key: String, value: ConfigValue)? {
            guard let path else { return nil }
            guard let found = DLTText.path(path) else {
                draft.doubt("paginator: bmo cannot read \(name) \(path)")
                return nil
            }
            return (name, .string(found))
        }
        var paging: [(key: String, value: ConfigValue)] = []
        func more() {
            paging += [place("has_more", value("has_more_path")?.printed)].compactMap(\.self)
            _ = value("stop_after_empty_page")
        }
        switch type {
        case "auto":
            draft.note("dlt detects the paging, and so does bmo, by rules of its own")
            return
        case "single_page": draft.set("paging", "none")
        case "header_link":
            let link = value("links_next_key")?.printed ?? "next"
            if link != "next" { draft.obstacle("its next page is in the link \(link), and bmo follows rel=next") }
            paging = [("style", "link_header")]
        case "json_link", "json_response":
            paging = [("style", "next_url")]
            paging += [place("path", value("next_url_path")?.printed ?? "next")].compactMap(\.self)
        case "cursor":
            paging = [("style", "cursor")]
            paging += [place("path", value("cursor_path")?.printed ?? "cursors.next")].compactMap(\.self)
            parameter("parameter", value("cursor_param"), value("cursor_body_path"), "cursor", &paging)
            more()
        case "header_cursor":
            paging = [
                ("style", "cursor"), ("header", .string(value("cursor_key")?.printed ?? "next")),
                ("parameter", .string(value("cursor_param")?.printed ?? "cursor")),
            ]
        case "offset":
            paging = [("style", "offset")]
            parameter("offset_parameter", value("offset_param"), value("offset_body_path"), "offset", &paging)
            parameter("limit_parameter", value("limit_param"), value("limit_body_path"), "limit", &paging)
            let (size, start) = (value("limit")?.count ?? 0, value("offset")?.count ?? 0)
            if size > 0 { paging.append(("size", .int(size))) } else { draft.obstacle("its paginator has no limit") }
            if start != 0 { paging.append(("start", .int(start))) }
            paging += [place("total", value("total_path")?.printed)].compactMap(\.self)
            if let most = value("maximum_offset")?.count, size > 0 {
                paging.append(("max_pages", .int(max(1, (most - start + size - 1) / size))))
            }
            more()
        case "page_number":
            paging = [("style", "page")]
            parameter("page_parameter", value("page_param"), value("page_body_path"), "page", &paging)
            let (base, page) = (value("base_page")?.count ?? 0, value("page")?.count)
            paging.append(("start", .int(page ?? base)))
            if let total = place("pages", value("total_path")?.printed) {
                paging.append(total)
            } else if given["total_path"] == nil {
                draft.note("an empty page ends the listing; dlt's default total_path is not used")
            }
            if let most = value("maximum_page")?.count {
                paging.append(("max_pages", .int(max(1, most - (page ?? base)))))
            }
            more()
        default:
            draft.obstacle("its paginator \(type) is custom Python")
            return
        }
        if !paging.isEmpty { draft.set("paging", .object(paging)) }
        for (name, value) in given.members ?? [] where !read.contains(name) && value != .null {
            draft.doubt("paginator: \(name) is not carried")
        }
    }

    /// Adds a parameter of the query, or of the JSON body.
    private func parameter(
        _ name: String, _ query: ConfigValue?, _ body: ConfigValue?, _ usual: String,
        _ paging: inout [(key: String, value: ConfigValue)]
    ) {
        paging.append((name, .string((body ?? query)?.printed ?? usual)))
        let isInBody = paging.contains { $0.key == "in" && $0.value == "body" }
        if body != nil, !isInBody { paging.append(("in", "body")) }
        if body == nil, query != nil, isInBody {
            draft.doubt("paginator: \(name) is in the query, other parameters in the body")
        }
    }
}

extension ConfigValue {
    /// The value as a number of things.
    fileprivate var count: Int64? {
        switch self {
        case .int(let value): value
        case .string(let text): Int64(text)
        default: nil
        }
    }
}
