internal import Model
internal import TextFormats

/// Translates the parts of a request: path, method, parameters, headers and body.
struct Requester {
    let draft: EntityDraft
    let text: SliceText

    func apply(_ requester: ConfigValue, address: RequestAddress, _ scope: Scope) {
        do {
            let path = try address.path.map { part in
                try text.text(Template(part: part), in: .path)
            }.joined()
            let shown = LiteralCredentials.path(path, of: draft, text.bridge)
            draft.set("path", .string(shown.isEmpty ? "/" : shown))
        } catch {
            draft.obstacle("its path: \(reason(error))")
        }
        let method = requester["http_method"]?.printed ?? "GET"
        if !["GET", "POST"].contains(method) { draft.obstacle("it requests by \(method); bmo reads by GET and POST") }
        pairs(requester["request_parameters"], "query", .query, scope)
        pairs(requester["request_headers"], "headers", .header, scope)
        body(requester, scope)
        for (place, value) in text.bridge.injections { place.put(.string(value), in: draft) }
        if method == "POST" { draft.set("method", .string(method)) }
        if requester["query_properties"] != nil || requester["fetch_properties_from_endpoint"] != nil {
            draft.doubt("query_properties: the list of properties that Airbyte asks for is not sent")
        }
    }

    /// Writes the method of a request with a body, once all parts have put theirs into it: Airbyte sends one by GET, too.
    static func finish(_ draft: EntityDraft) {
        guard draft.setting("body") != nil, draft.setting("method") == nil else { return }
        draft.set("method", "GET")
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
                        let plain = value.array == nil && value.members == nil ? value : .string(value.json)
                        draft.add(inner, withoutCredential(inner, plain, in: place), to: setting)
                    }
                } else {
                    let plain = place == .header ? .string(sent.printed) : sent
                    draft.add(name, withoutCredential(name, plain, in: place), to: setting)
                }
            } catch {
                lose("\(setting).\(name): \(LiteralCredentials.shown(value, name))", reason(error))
            }
        }
    }

    /// Returns a value that is sent under a name, or the variable in place of a credential that the manifest holds.
    private func withoutCredential(_ name: String, _ value: ConfigValue, in place: SliceText.Place) -> ConfigValue {
        let isSecret = place == .header ? SecretNames.isHeader(name) : LiteralCredentials.isParameter(name)
        let places: [SliceText.Place: String] = [.header: "the headers", .body: "the body"]
        let isNumber = value.int != nil && SecretNames.certain.contains(SecretNames.plain(name))
        // `include_token: true` is none, and a text with a variable is none of the manifest's.
        guard isSecret, let literal = isNumber ? value.printed : value.string, !literal.isEmpty,
            !["true", "false"].contains(literal.lowercased()),
            !(literal.contains("{") && literal.contains("}"))
        else { return value }
        return .string(
            LiteralCredentials.variable(name, literal, in: places[place] ?? "the query", of: draft, text.bridge))
    }

    /// Returns a body, or a member of one, without the credentials that the manifest holds.
    private func withoutCredentials(_ body: ConfigValue, named name: String = "", format: String?) -> ConfigValue {
        var body = body
        if format == "form", let members = body.members {
            body = .object(members.map { ($0.key, withoutCredential($0.key, $0.value, in: .body)) })
        }
        if format == "text", let given = body.string, given.contains("="), !given.hasPrefix("{") {
            return .string(LiteralCredentials.query(given, in: "the body", of: draft, text.bridge))
        }
        return LiteralCredentials.body(body, named: name, of: draft, text.bridge)
    }

    /// Returns a body with the members that the partitions of the stream have put into it.
    private func withRouted(_ body: ConfigValue) -> ConfigValue {
        guard let routed = draft.setting("body"), routed.isTruthy else { return body }
        guard body.members != nil, routed.members != nil else {
            draft.doubt("the body is a text, into which the parameter of a partition is not put")
            return body
        }
        return Self.merged(body, routed)
    }

    private static func merged(_ body: ConfigValue, _ routed: ConfigValue) -> ConfigValue {
        guard body.members != nil, let members = routed.members else { return routed }
        return members.reduce(body) { body, member in
            body.setting(member.key, body[member.key].map { merged($0, member.value) } ?? member.value)
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
            draft.set("body", withRouted(withoutCredentials(sent, format: format)))
            if let format { draft.set("body_format", .string(format)) }
            if sent.string != nil, format == nil { draft.set("body_format", "json") }
        } catch {
            guard let members = value.members else {
                lose("body: \(value.printed)", reason(error))
                return
            }
            for (name, value) in members {
                do {
                    guard let sent = try text.value(value, scope, in: .body) else { continue }
                    draft.add(name, withoutCredentials(sent, named: name, format: nil), to: "body")
                } catch {
                    lose("body.\(name): \(LiteralCredentials.shown(value, name))", reason(error))
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
