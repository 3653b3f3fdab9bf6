internal import Model

/// Translates the parts of a request: path, method, parameters, headers and body.
struct Requester {
    let draft: EntityDraft
    let text: SliceText

    func apply(_ requester: ConfigValue, address: RequestAddress, _ scope: Scope) {
        do {
            let path = try address.path.map { part in
                try text.text(Template(part: part), in: .path)
            }.joined()
            draft.set("path", .string(path.isEmpty ? "/" : path))
        } catch {
            draft.obstacle("its path: \(reason(error))")
        }
        let method = requester["http_method"]?.printed ?? "GET"
        if !["GET", "POST"].contains(method) { draft.obstacle("it requests by \(method); bmo reads by GET and POST") }
        pairs(requester["request_parameters"], "query", .query, scope)
        pairs(requester["request_headers"], "headers", .header, scope)
        body(requester, scope)
        if method == "POST" || draft.setting("body") != nil { draft.set("method", .string(method)) }
        for (place, value) in text.bridge.injections { place.put(.string(value), in: draft) }
        if requester["query_properties"] != nil || requester["fetch_properties_from_endpoint"] != nil {
            draft.doubt("query_properties: the list of properties that Airbyte asks for is not sent")
        }
    }

    /// Adds the members of an object, or the parameters of a text such as `a=1&b=2`.
    private func pairs(_ value: ConfigValue?, _ setting: String, _ place: SliceText.Place, _ scope: Scope) {
        guard let value, value.isTruthy else { return }
        var members = value.members
        if members == nil, let text = value.string {
            do {
                let known = try Template(text, scope).known
                members = known?.members
                if members == nil, let text = known?.string {
                    members = text.split(separator: "&").map { pair in
                        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                        return (String(parts[0]), .string(parts.count > 1 ? String(parts[1]) : ""))
                    }
                }
            } catch {
                members = nil
            }
        }
        guard let members else {
            lose("\(setting): \(value.printed)", "only Python can compute it")
            return
        }
        for (name, value) in members {
            do {
                let name = try text.name(name, scope)
                if value.type == "QueryProperties" {
                    let list = value["property_list"]?.array?.compactMap(\.string)
                    guard let list else { throw Untranslatable("its properties come from a separate request") }
                    if value["property_chunking"] != nil {
                        draft.doubt("\(setting).\(name): all properties go into one request; Airbyte splits them")
                    }
                    draft.add(name, .string(list.joined(separator: ",")), to: setting)
                    continue
                }
                guard let sent = try text.value(value, scope, in: place) else { continue }
                if sent.members != nil {
                    for (inner, value) in sent.members ?? [] {
                        draft.add(
                            inner, value.array == nil && value.members == nil ? value : .string(value.json), to: setting
                        )
                    }
                } else {
                    draft.add(name, place == .header ? .string(sent.printed) : sent, to: setting)
                }
            } catch {
                lose("\(setting).\(name): \(value.printed)", reason(error))
            }
        }
    }

    private func body(_ requester: ConfigValue, _ scope: Scope) {
        var value = requester["request_body_json"] ?? .null
        var format: String?
        if let data = requester["request_body_data"], data.isTruthy {
            value = data
            format = data.members == nil ? "text" : "form"
        }
        if let body = requester["request_body"], body.isTruthy {
            value = body["value"] ?? .null
            switch body.type {
            case "RequestBodyPlainText": format = "text"
            case "RequestBodyUrlEncodedForm": format = "form"
            case "RequestBodyGraphQL":
                if let query = value["query"] { value = value.setting("query", .string(query.printed)) }
            default: break
            }
        }
        guard value.isTruthy else { return }
        do {
            guard let sent = try text.value(value, scope, in: .body), sent.isTruthy else { return }
            if let form = format, form == "form", sent.members == nil { format = "text" }
            draft.set("body", sent)
            if let format { draft.set("body_format", .string(format)) }
            if sent.string != nil, format == nil { draft.set("body_format", "json") }
        } catch {
            guard let members = value.members else {
                lose("body: \(value.printed)", reason(error))
                return
            }
            for (name, value) in members {
                do {
                    if let sent = try text.value(value, scope, in: .body) { draft.add(name, sent, to: "body") }
                } catch {
                    lose("body.\(name): \(value.printed)", reason(error))
                }
            }
            if let format { draft.set("body_format", .string(format)) }
        }
    }

    /// Reports a part of the request that is not sent, because the API may then return other records.
    private func lose(_ what: String, _ reason: String) {
        draft.sectionNote("not sent: \(what): \(reason)")
        draft.doubt("\(what): \(reason)")
    }
}
