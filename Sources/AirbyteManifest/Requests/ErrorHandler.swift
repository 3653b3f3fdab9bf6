internal import Model

/// Translates error handlers into `responses`.
struct ErrorHandler {
    let draft: EntityDraft

    func apply(_ handler: ConfigValue?, _ scope: Scope) {
        var rules: [ConfigValue] = []
        collect(handler, scope, &rules)
        if !rules.isEmpty { draft.set("responses", .array(rules)) }
    }

    private func collect(_ handler: ConfigValue?, _ scope: Scope, _ rules: inout [ConfigValue]) {
        guard let handler, handler != .null else { return }
        switch handler.type {
        case "CompositeErrorHandler":
            for inner in handler["error_handlers"]?.array ?? [] { collect(inner, scope, &rules) }
        case "DefaultErrorHandler", nil:
            for filter in handler["response_filters"]?.array ?? [] { add(filter, scope.with(filter), &rules) }
            for strategy in handler["backoff_strategies"]?.array ?? [] { note(strategy) }
        default:
            let name = handler["class_name"]?.string ?? handler.type ?? ""
            for filter in handler["response_filters"]?.array ?? [] { add(filter, scope.with(filter), &rules) }
            draft.doubt("error_handler \(name) is custom Python; bmo's own treatment of errors applies", ofValues: true)
        }
    }

    private func add(_ filter: ConfigValue, _ scope: Scope, _ rules: inout [ConfigValue]) {
        let actions = [
            "SUCCESS": "accept", "IGNORE": "ignore", "RETRY": "retry", "FAIL": "fail", "RATE_LIMITED": "retry",
            "REFRESH_TOKEN_THEN_RETRY": "refresh",
        ]
        let given = filter["action"]?.string?.uppercased() ?? (filter["failure_type"] == nil ? "" : "FAIL")
        guard let action = actions[given] else {
            draft.doubt("responses: the action \(given) is not carried")
            return
        }
        var rule: [(key: String, value: ConfigValue)] = []
        let codes = (filter["http_codes"]?.array ?? []).compactMap { Int64($0.printed) }
        if !codes.isEmpty {
            rule.append(("status", codes.count == 1 ? .int(codes[0]) : .array(codes.map { .int($0) })))
        }
        if let predicate = filter["predicate"]?.string, !predicate.isEmpty {
            do {
                let (when, status) = try condition(predicate, scope)
                if let status, codes.isEmpty { rule.append(("status", .int(status))) }
                if let when { rule.append(("when", when)) }
            } catch {
                lose(filter, "its predicate is evaluated by Python only")
                return
            }
        }
        if let text = filter["error_message_contains"]?.string, !text.isEmpty {
            lose(filter, "bmo has no rule for a message that contains \"\(text)\"")
            return
        }
        guard !rule.isEmpty else { return }
        rule.append(("action", .string(action)))
        if ["retry", "fail", "refresh"].contains(action), let message = filter["error_message"]?.string,
            let known = try? Template(message, scope).known?.printed, !known.isEmpty
        {
            rule.append(("message", .string(YAMLText.line(known))))
        }
        let object = ConfigValue.object(rule)
        if !rules.contains(object) { rules.append(object) }
    }

    private func lose(_ filter: ConfigValue, _ reason: String) {
        let what = "response_filter \(filter["action"]?.printed ?? "") \(filter["predicate"]?.printed ?? "")"
        draft.sectionNote("not carried: \(what): \(reason)")
        draft.doubt("\(what): \(reason)")
    }

    /// Returns a rule's `when`, and the status that the predicate names.
    private func condition(_ text: String, _ scope: Scope) throws -> (ConfigValue?, Int64?) {
        guard let expression = try Template(text, scope).expression else { throw Untranslatable("") }
        var when: ConfigValue?
        var status: Int64?
        for part in Self.parts(expression) {
            switch part {
            case .binary("==", .path(["response", "status_code"]), let value): status = value.known?.int
            case .binary("==", .path(let names), let value) where names.first == "response" && when == nil:
                guard let known = value.known, known.array == nil, known.members == nil else {
                    throw Untranslatable("")
                }
                when = [
                    "path": .string(RecordsPath.text(Array(names.dropFirst()))), "equals": known,
                ]
            case .binary("in", .literal(let name), .path(let names)) where names.first == "response":
                if Self.parts(expression).count == 1 || when == nil && Self.parts(expression).last == part {
                    when = ["path": .string(RecordsPath.text(Array(names.dropFirst()) + [name.printed]))]
                }
            case .path(let names) where names.first == "response" && names.count > 1 && when == nil:
                when = ["path": .string(RecordsPath.text(Array(names.dropFirst())))]
            default: throw Untranslatable("")
            }
        }
        guard when != nil || status != nil else { throw Untranslatable("") }
        return (when, status)
    }

    private static func parts(_ expression: Expression) -> [Expression] {
        if case .binary("and", let left, let right) = expression { return parts(left) + parts(right) }
        return [expression]
    }

    private func note(_ strategy: ConfigValue) {
        switch strategy.type {
        case "ExponentialBackoffStrategy": return
        case "ConstantBackoffStrategy":
            draft.sectionNote(
                "Airbyte waits \(strategy["backoff_time_in_seconds"]?.printed ?? "some") seconds before it tries again; bmo waits by its own rules"
            )
        case "WaitTimeFromHeader", "WaitUntilTimeFromHeader":
            let header = strategy["header"]?.printed ?? ""
            if header.lowercased() != "retry-after" {
                draft.sectionNote(
                    "Airbyte waits as the header \(header) says; bmo reads Retry-After and the rate-limit headers")
            }
        default:
            draft.sectionNote(
                "not carried: the backoff \(strategy["class_name"]?.string ?? strategy.type ?? ""); bmo waits by its own rules"
            )
        }
    }
}
