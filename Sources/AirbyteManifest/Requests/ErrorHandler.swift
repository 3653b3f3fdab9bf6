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
            // A later handler overrides an earlier one that fails, and no other.
            var failures: [ConfigValue] = []
            var handlers: [[ConfigValue]] = []
            var isKnown = true
            for inner in handler["error_handlers"]?.array ?? [] {
                var own: [ConfigValue] = []
                collect(inner, scope, &own)
                handlers.append(isKnown ? reached(own, after: handlers) : own)
                isKnown = isKnown && [nil, "DefaultErrorHandler", "CompositeErrorHandler"].contains(inner.type)
            }
            for (index, own) in handlers.enumerated() {
                let isFailure = own.allSatisfy { $0["action"] == "fail" }
                doubtFailures(of: own, before: Array(handlers[(index + 1)...]), areLast: isFailure)
                if isFailure { failures = own + failures } else { rules += own.filter { !rules.contains($0) } }
            }
            rules += failures.filter { !rules.contains($0) }
        case "DefaultErrorHandler", nil:
            for filter in handler["response_filters"]?.array ?? [] { add(filter, scope.with(filter), &rules) }
            for strategy in handler["backoff_strategies"]?.array ?? [] { note(strategy) }
        default:
            let name = handler["class_name"]?.string ?? handler.type ?? ""
            for filter in handler["response_filters"]?.array ?? [] { add(filter, scope.with(filter), &rules) }
            draft.doubt("error_handler \(name) is custom Python; bmo's own treatment of errors applies", ofValues: true)
        }
    }

    /// The statuses about which later handlers decide, too, where one has no rule: it fails them, or limits the rate.
    private static let undecided: [Int64] = [400, 401, 403, 404, 405, 429]

    /// Returns the rules as far as the handlers before let replies pass: each has a default for all statuses, and takes a
    /// success or retries other failures.
    private func reached(_ rules: [ConfigValue], after earlier: [[ConfigValue]]) -> [ConfigValue] {
        guard !earlier.isEmpty else { return rules }
        func isFailed(_ status: ConfigValue) -> Bool {
            earlier.allSatisfy { handler in
                handler.contains { rule in
                    ["fail", "refresh"].contains(rule["action"]?.string)
                        && Self.statuses(rule).contains { Self.matches($0, status) }
                }
            }
        }
        return rules.compactMap { rule -> ConfigValue? in
            let given = Self.statuses(rule)
            let kept = given.flatMap { status -> [ConfigValue] in
                if isFailed(status) { return [status] }
                return Self.undecided.map { .int($0) }.filter { Self.matches($0, status) }
            }
            if kept == given { return rule }
            let (words, rest) = (Self.words(given), Self.words(kept))
            draft.sectionNote(
                kept.isEmpty
                    ? "not carried: a rule for \(words): an earlier handler has taken or retried such a reply already"
                    : "a rule for \(words) applies to \(rest): an earlier handler has taken or retried others already")
            // A plain nil would be the value null.
            guard !kept.isEmpty else { return Optional.none }
            return rule.setting("status", kept.count == 1 ? kept[0] : .array(kept))
        }
    }

    /// Reports failures that a later handler may override.
    ///
    /// - Parameter areLast: Whether they stand behind the rules of later handlers, so that only a success differs. Others
    ///   stand among other rules.
    private func doubtFailures(of rules: [ConfigValue], before later: [[ConfigValue]], areLast: Bool) {
        let others = later.flatMap(\.self).filter { $0["action"] != "fail" }
        for rule in rules where rule["action"] == "fail" {
            let statuses = Self.statuses(rule)
            // A handler without a rule for a success takes its records.
            let isOverridden =
                !later.isEmpty && statuses.contains { Self.matches($0, "2xx") }
                || !areLast
                    && others.contains { other in
                        Self.statuses(other).contains { one in statuses.contains { Self.matches($0, one) } }
                    }
            guard isOverridden else { continue }
            draft.doubt(
                "responses: a reply \(Self.words(statuses)) that one handler fails is an error; in Airbyte a later handler may take it",
                ofValues: true)
        }
    }

    private static func words(_ statuses: [ConfigValue]) -> String {
        statuses.map(\.printed).joined(separator: ", ")
    }

    private static func statuses(_ rule: ConfigValue) -> [ConfigValue] {
        rule["status"].map { $0.array ?? [$0] } ?? []
    }

    /// Whether two statuses, such as 404 and 4xx, may be the same.
    private static func matches(_ one: ConfigValue, _ other: ConfigValue) -> Bool {
        let (one, other) = (one.printed, other.printed)
        return one == other || (one.hasSuffix("xx") || other.hasSuffix("xx")) && one.first == other.first
    }

    private func add(_ filter: ConfigValue, _ scope: Scope, _ rules: inout [ConfigValue]) {
        // To Airbyte, both mean the reply's records if it is a success, and else none.
        let actions = [
            "SUCCESS": "ignore", "IGNORE": "ignore", "RETRY": "retry", "FAIL": "fail", "RATE_LIMITED": "retry",
            "REFRESH_TOKEN_THEN_RETRY": "refresh",
        ]
        let given = filter["action"]?.string?.uppercased() ?? (filter["failure_type"] == nil ? "" : "FAIL")
        guard let action = actions[given] else {
            draft.doubt("responses: the action \(given) is not carried")
            return
        }
        // In Airbyte, one matching condition is enough.
        var conditions: [[(key: String, value: ConfigValue)]] = []
        let codes = (filter["http_codes"]?.array ?? []).compactMap { Int64($0.printed) }
        let isIgnored = action == "ignore"
        // bmo reads the records of a success without a rule, and more carefully than with one.
        let ruled = isIgnored ? codes.filter { !(200..<300).contains($0) } : codes
        if !ruled.isEmpty {
            conditions.append([("status", ruled.count == 1 ? .int(ruled[0]) : .array(ruled.map { .int($0) }))])
        }
        if let predicate = filter["predicate"]?.string, !predicate.isEmpty {
            do {
                var scope = scope
                scope.keepsDefaults = true
                guard let expression = try Template(predicate, scope).expression else { throw Untranslatable("") }
                for when in try ResponsePredicate(draft: draft).alternatives(expression) {
                    for statuses: ConfigValue in isIgnored ? ["2xx", ["4xx", "5xx"]] : [["2xx", "4xx", "5xx"]] {
                        conditions.append([("status", statuses), ("when", when)])
                    }
                }
            } catch {
                lose(filter, "only Python can evaluate its predicate")
            }
        }
        if let text = filter["error_message_contains"]?.string, !text.isEmpty {
            if action == "fail", !codes.isEmpty, codes.allSatisfy({ $0 >= 400 }) {
                // Such a reply fails here as well; only the error's text differs.
                draft.sectionNote("not carried: response_filter FAIL where a message contains \"\(text)\"")
            } else {
                for path in ["$.message", "$.error", "$.error.message", "$.errors[0].message", "$.detail"] {
                    let when: ConfigValue = ["path": .string(path), "contains": .string(text)]
                    let statuses: ConfigValue = isIgnored ? ["4xx", "5xx"] : ["2xx", "4xx", "5xx"]
                    conditions.append([("status", statuses), ("when", when)])
                }
                draft.doubt(
                    "response_filter \(given): bmo looks for \"\(text)\" in the usual places of a message; Airbyte knows more"
                )
            }
        }
        if isIgnored, conditions.contains(where: { !Self.isAbsence($0) }) {
            // The same records, and bmo deletes none of the earlier ones: Airbyte never does.
            draft.sectionNote(
                "after an ignored reply other than 404 and 410, the listing counts as incomplete, and bmo deletes nothing"
            )
        }
        for condition in conditions {
            var rule = condition
            rule.append(("action", .string(isIgnored && Self.isSuccess(condition) ? "accept" : action)))
            if ["retry", "fail", "refresh"].contains(action), let message = filter["error_message"]?.string,
                let known = try? Template(message, scope).known?.printed, !known.isEmpty
            {
                rule.append(("message", .string(YAMLText.line(known))))
            }
            let object = ConfigValue.object(rule)
            if !rules.contains(object) { rules.append(object) }
        }
    }

    private static func statuses(_ condition: [(key: String, value: ConfigValue)]) -> [ConfigValue] {
        condition.first { $0.key == "status" }.map { $0.value.array ?? [$0.value] } ?? []
    }

    private static func isSuccess(_ condition: [(key: String, value: ConfigValue)]) -> Bool {
        statuses(condition).contains("2xx")
    }

    /// Whether the statuses of a condition say that nothing is lacking, or that records are read.
    private static func isAbsence(_ condition: [(key: String, value: ConfigValue)]) -> Bool {
        isSuccess(condition) || statuses(condition).allSatisfy { $0 == 404 || $0 == 410 }
    }

    private func lose(_ filter: ConfigValue, _ reason: String) {
        let what = "response_filter \(filter["action"]?.printed ?? "") \(filter["predicate"]?.printed ?? "")"
        draft.sectionNote("not carried: \(what): \(reason)")
        draft.doubt("\(what): \(reason)")
    }

    private func note(_ strategy: ConfigValue) {
        switch strategy.type {
        case "ExponentialBackoffStrategy": return
        case "ConstantBackoffStrategy":
            draft.sectionNote(
                "Airbyte waits \(strategy["backoff_time_in_seconds"]?.printed ?? "some") seconds before a retry; bmo uses its own pauses"
            )
        case "WaitTimeFromHeader", "WaitUntilTimeFromHeader":
            let header = strategy["header"]?.printed ?? ""
            if header.lowercased() != "retry-after" {
                draft.sectionNote(
                    "Airbyte waits for the time in the header \(header); bmo reads Retry-After and the rate-limit headers"
                )
            }
        default:
            draft.sectionNote(
                "not carried: the backoff \(strategy["class_name"]?.string ?? strategy.type ?? ""); bmo uses its own pauses"
            )
        }
    }
}
