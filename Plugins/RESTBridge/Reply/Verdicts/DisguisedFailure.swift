internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// A failure reported in a reply with status 200 and no records.
///
/// Read as an empty listing, it would delete rows.
struct DisguisedFailure {
    /// The path of the sign in the reply.
    let path: String
    /// The value at that path.
    let value: String
    /// The API's error message, if the reply has one.
    let words: String?

    /// - Parameter isSingleObject: Whether the reply itself would be the only record. Then only signs that records
    ///   never have count.
    init?(_ survey: ReplySurvey, isSingleObject: Bool = false) {
        // The id of a JSON-RPC reply belongs to the request.
        if isSingleObject, survey["$.jsonrpc"] == .missing,
            OutcomeWords.identities.contains(where: { survey["$.\($0)"] != .missing })
        {
            return nil
        }
        let homes =
            isSingleObject ? ["$"] : ["$", "$.response", "$.meta", "$.result", "$.status", "$.head", "$.header"]
        for home in homes where home == "$" || survey[home] != .missing {
            guard let sign = Self.sign(survey, home, isSingleObject: isSingleObject) else { continue }
            path = sign.path
            value = sign.value
            words = Self.words(survey, home, sign.path)
            return
        }
        return nil
    }

    /// The failure that a status in words, such as `{"status": "error"}`, reports in the reply to a change.
    ///
    /// A written object may have a status of its own, so an object with an identity is not a failure.
    init?(statusOf survey: ReplySurvey) {
        guard OutcomeWords.identities.allSatisfy({ survey["$.\($0)"] == .missing }) else { return nil }
        let hasReason = (OutcomeWords.reasons + ["error", "errors", "code", "data"]).contains {
            survey["$.\($0)"] != .missing
        }
        for name in Self.statuses {
            guard case .text(let text) = survey["$.\(name)"] else { continue }
            let word = text.lowercased()
            guard word == "error" || hasReason && Self.failedWords.contains(word) else { continue }
            let place = "$.\(name)"
            path = place
            value = text
            words = Self.words(survey, "$", place)
            return
        }
        return nil
    }

    /// The failure that the reply to a change reports, whose record would be the reply itself.
    ///
    /// - Parameters:
    ///   - key: The names of the members that hold the object's own key; empty if the reply lacks it.
    ///   - showsObject: Whether the reply has other values of the object.
    init?(ofChange survey: ReplySurvey, key: [String], showsObject: Bool) {
        let isOutcome = !showsObject && Self.isOutcome(survey, key)
        // An object may have an error of its own.
        guard isOutcome || key.isEmpty else { return nil }
        if let known = DisguisedFailure(survey, isSingleObject: true) ?? DisguisedFailure(statusOf: survey) {
            self = known
            return
        }
        guard isOutcome, let sign = Self.signOfChange(survey, key) else { return nil }
        path = sign.path
        value = sign.value
        words = Self.words(survey, "$", sign.path)
    }

    /// Whether a reply has nothing of an object but its key.
    private static func isOutcome(_ survey: ReplySurvey, _ key: [String]) -> Bool {
        survey.findings.allSatisfy { finding in
            let name = String(finding.path.dropFirst(2))
            return !finding.path.hasPrefix("$.") || name.contains(".") || name.contains("[") || finding.value == .null
                || key.contains(name) || statuses.contains(name)
                || OutcomeWords.plainMembers.contains(OutcomeWords.plain(name))
        }
    }

    /// A sign that a written object could have as a value of its own: it counts only where the reply has nothing of such an
    /// object.
    private static func signOfChange(_ survey: ReplySurvey, _ key: [String]) -> (path: String, value: String)? {
        for name in OutcomeWords.flags {
            switch survey["$.\(name)"] {
            case .bool(false): return ("$.\(name)", "false")
            case .number("0"): return ("$.\(name)", "0")
            default: break
            }
        }
        // Of the other signs, a written object may have any as a value of its own.
        guard (OutcomeWords.identities + key).allSatisfy({ survey["$.\($0)"] == .missing }) else { return nil }
        for name in codes {
            guard let number = survey["$.\(name)"].integer else { continue }
            // A message may tell what the code of an error means: see ``FailedOutcome``.
            let isError = name.lowercased().hasPrefix("err") && number != 0 && !hasMessage(survey)
            if isError || (400...599).contains(number) { return ("$.\(name)", String(number)) }
        }
        for name in statuses {
            guard case .text(let text) = survey["$.\(name)"] else { continue }
            let word = text.lowercased()
            if failedWords.contains(word) { return ("$.\(name)", text) }
        }
        return nil
    }

    private static func hasMessage(_ survey: ReplySurvey) -> Bool {
        survey.findings.contains { finding in
            guard finding.path.hasPrefix("$."), case .text(let text) = finding.value else { return false }
            return !text.isEmpty
                && OutcomeWords.plainMessages.contains(OutcomeWords.plain(String(finding.path.dropFirst(2))))
        }
    }

    /// Names of members that tell the outcome in words.
    private static let statuses = ["status", "Status", "stat", "result"]
    /// Names of members that hold a code of HTTP or of an error.
    private static let codes = OutcomeWords.statusCodes + ["code"] + OutcomeWords.errorCodes
    private static let errors = [
        "error", "errors", "Error", "Errors", "fault", "Fault", "exception", "error_message", "errorMessage",
        "Error Message", "error_description",
    ]
    private static let failed: Set<String> = ["false", "err", "ko", "nok", "not_ok"]
    private static let failedWords = failed.union(OutcomeWords.failedStates)

    private static func sign(
        _ survey: ReplySurvey, _ home: String, isSingleObject: Bool
    ) -> (path: String, value: String)? {
        for name in OutcomeWords.flags + (isSingleObject ? [] : ["status", "result", "Response"]) {
            let path = ReplySurvey.member(home, name)
            switch survey[path] {
            case .bool(false): return (path, "false")
            case .text(let text) where text.lowercased() == "false": return (path, text)
            default: break
            }
        }
        for path in OutcomeWords.failureFlags.map({ ReplySurvey.member(home, $0) }) where survey[path] == .bool(true) {
            return (path, "true")
        }
        for name in errors {
            let path = ReplySurvey.member(home, name)
            switch survey[path] {
            case .text(let text) where !OutcomeWords.isNoError(text):
                return (path, "a text")
            case .bool(true): return (path, "true")
            case .number(let text) where text != "0": return (path, text)
            case .array(let first) where !first.isEmpty: return (path, "a list")
            case .object where survey.holdsError(at: path): return (path, "an object")
            default: break
            }
        }
        guard !isSingleObject else { return nil }
        for name in ["status", "Status", "stat", "result", "state"] {
            let path = ReplySurvey.member(home, name)
            guard case .text(let text) = survey[path] else { continue }
            if failed.contains(text.lowercased()) || OutcomeWords.hasFailure(text) { return (path, text) }
        }
        for name in codes {
            let path = ReplySurvey.member(home, name)
            guard let number = survey[path].integer else { continue }
            let isCode = name.lowercased().hasPrefix("err")
            if isCode ? number != 0 : (400...599).contains(number) { return (path, String(number)) }
            // A bare `code` has no known success value. With a message beside it, or as a text, any code other than 0, 1 and
            // 2xx is a failure, unless the message says success.
            guard name == "code", number < 0 || number > 299 else { continue }
            let message = message(survey, [home, home + ".error", "$"])
            let isTold = message.map { !OutcomeWords.saysSuccess($0) } ?? (survey[path] == .text(String(number)))
            if isTold { return (path, String(number)) }
        }
        return result(survey, home)
    }

    /// Returns a code of a result that says by itself that it failed.
    ///
    /// That is one below 0, one of HTTP, or a word such as `FAIL` or `E001`. Other numbers may stand for success.
    private static func result(_ survey: ReplySurvey, _ home: String) -> (path: String, value: String)? {
        for name in OutcomeWords.resultCodes + ["code"] + OutcomeWords.errorCodes {
            let path = ReplySurvey.member(home, name)
            if let number = survey[path].integer {
                if number < 0 || (400...599).contains(number) { return (path, String(number)) }
            } else if case .text(let text) = survey[path], OutcomeWords.isFailed(code: text) {
                return (path, text)
            }
        }
        let err = ReplySurvey.member(home, "err")
        if case .text(let text) = survey[err], !OutcomeWords.isClear(code: text), !OutcomeWords.isNoError(text) {
            return (err, "a text")
        }
        return nil
    }

    private static func words(_ survey: ReplySurvey, _ home: String, _ sign: String) -> String? {
        if case .text(let text) = survey[sign], text.contains(where: { !$0.isLetter }) { return text }
        for inner in [sign, home, home + ".error", "$"] {
            if let text = message(survey, [inner], or: ["error", "Error", "code", "type"]) { return text }
        }
        if case .text(let text) = survey[sign] { return text }
        return nil
    }

    /// Returns the first message in one of these objects.
    private static func message(_ survey: ReplySurvey, _ homes: [String], or others: [String] = []) -> String? {
        for home in homes {
            for name in OutcomeWords.messages + others {
                if case .text(let text) = survey[ReplySurvey.member(home, name)], !text.isEmpty { return text }
            }
        }
        return nil
    }

    /// Returns the failure as an error for the host.
    ///
    /// - Parameter isWrite: Whether the request was a change, which then was not made.
    func error(
        asked: String, response: HTTPResponse, body: HTTPExchange.PaddedBody, isWrite: Bool = false
    ) -> BridgeError {
        var words = words
        if words == nil, path.hasSuffix("rrors") || path.hasSuffix("rror") {
            // The survey does not descend into lists.
            let paths = ["[0].message", "[0].detail", "[0].title", "[0]"].compactMap {
                try? JSONPath(path + $0, option: "responses")
            }
            words = JSONScalar.read(paths, in: body)?.lazy.compactMap(\.plain).first
        }
        let said = words.map { String(response.redactor.clean($0).prefix(300)) }
        if isWrite {
            return BridgeError(
                .remote, "\(asked): the reply has status \(response.status), but says \(path) is \(value)",
                remedy: "if that means success, say so under responses: "
                    + "{when: {path: \(path)}, action: accept}",
                location: response.location, remote: said)
        }
        return BridgeError(
            .remote, "\(asked): the reply has status \(response.status) and no records, but says \(path) is \(value)",
            remedy: "if that means that there are none, say so under responses: "
                + "{when: {path: \(path)\(path.hasSuffix("uccess") || path.hasSuffix("ok") ? ", equals: false" : "")}, "
                + "action: empty}",
            location: response.location, remote: said)
    }
}
