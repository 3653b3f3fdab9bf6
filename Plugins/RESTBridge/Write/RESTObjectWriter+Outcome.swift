internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// What a reply says of the change, by the verdicts of `Outcome`.
extension RESTObjectWriter {
    /// Refuses a successful reply that says that the change was not made.
    func checkChange(_ reply: [UInt8], _ response: HTTPResponse) throws {
        guard !reply.isEmpty, let root = try? JSONTree(parsing: reply, what: asked) else { return }
        if try checkParts(of: root, response) { return }
        try checkIssues(root, reply, response)
        try checkOutcome(root, reply, response)
        try checkKept(root, reply, response)
        try checkForeign(root, reply, response)
        guard root.isObject, !hasKey(reply),
            let failure = FailedChange(
                root, request, isUpdate: request.operation == .update || rule.method == "PATCH",
                isMutation: rule.mutation != nil), try !hasRule(for: failure.path)
        else { return }
        let isNothing = failure.kind == .nothingChanged
        // The host then reads the object, which may have the values already, or be gone.
        let error = refusal(
            failure.path, failure.value + (isNothing ? ", so nothing was changed" : ""), words: failure.words, response,
            code: isNothing && request.operation != .create ? .conflict : .remote,
            equals: isNothing ? ", equals: \"\(failure.value)\"" : "")
        throw failure.isUnclear ? unknown(error) : error
    }

    /// Returns the error for a successful reply that says at a path that the change was not made.
    func refusal(
        _ path: String, _ value: String, words: String?, _ response: HTTPResponse, code: BridgeError.Code = .remote,
        equals: String = ""
    ) -> BridgeError {
        BridgeError(
            code, "\(asked): the reply has status \(response.status), but says \(path) is \(value)",
            remedy:
                "if that means success, say so under responses: {when: {path: \"\(path)\"\(equals)}, action: accept}",
            location: response.location, remote: words.map { String(response.redactor.clean($0).prefix(300)) })
    }

    /// Refuses an update whose reply has errors, and shows the object as it was before.
    private func checkKept(_ root: JSONTree, _ reply: [UInt8], _ response: HTTPResponse) throws {
        guard request.operation == .update else { return }
        let record = placedRecord(in: reply).map { ($0.path, listed($0.object)) }
        guard let failure = FailedChange(beside: record, root, request, isMutation: rule.mutation != nil),
            try !hasRule(for: failure.path)
        else { return }
        throw refusal(
            failure.path, "\(failure.value), and shows the values from before", words: failure.words, response)
    }

    /// Returns a reply's object as a listing would return it, as far as that is possible.
    private func listed(_ object: JSONTree) -> JSONTree {
        guard let batch = try? shaped(object) else { return object }
        return withExtendedLifetime(batch) { JSONTree(batch[0]) }
    }

    /// Refuses a reply whose only content in the object's place is a failure.
    private func checkOutcome(_ root: JSONTree, _ reply: [UInt8], _ response: HTTPResponse) throws {
        // A new object has a status of its own, such as that of a payment that failed.
        let isNew = request.operation == .create && hasKey(reply)
        guard let failure = FailedOutcome(root, request, at: rule.records, isNew: isNew),
            try !hasRule(for: failure.path)
        else { return }
        let value = String(response.redactor.clean(failure.value).prefix(100))
        let error = refusal(failure.path, value, words: failure.words, response)
        throw failure.isUnclear ? unknown(error) : error
    }

    /// Whether the reply has the object, by its key.
    func hasKey(_ reply: [UInt8]) -> Bool {
        if keyed(reply) != nil { return true }
        guard let record = record(in: reply) else { return false }
        let paths = request.keyPaths.values.filter { !$0.isEmpty }
        return !paths.isEmpty && paths.allSatisfy { EarlierValues.isGiven(record[$0]) }
            || OutcomeWords.identities.contains { EarlierValues.isGiven(record[$0]) }
    }

    /// Refuses a reply whose object reports a failure in members that are not values of the object.
    private func checkForeign(_ root: JSONTree, _ reply: [UInt8], _ response: HTTPResponse) throws {
        let (record, own) = (placedRecord(in: reply), OwnValues(request))
        var places = record.map { [$0] } ?? []
        if rule.mutation == nil { places += Self.envelopes(root, own) }
        // 201 says that there is a new object (RFC 9110, section 15.3.2).
        if request.operation == .create, response.status == 201 { places.removeAll { own.isIdentified($0.object) } }
        var sign = places.lazy.compactMap { ForeignSign(in: $0, request) }.first
        if sign == nil, rule.mutation != nil {
            sign =
                record.flatMap { ForeignSign(around: $0, inMutation: root) }
                ?? ForeignSign(inPayloadsOf: root, without: record?.path, request)
        }
        guard let sign, try !hasRule(for: sign.path) else { return }
        let error = refusal(sign.path, sign.value, words: sign.words, response)
        // A delete could be sent again, but the object shows whether that is needed.
        if sign.isPending { throw unsettled(error) }
        throw sign.isUnclear ? unknown(error) : error
    }

    /// Returns the objects around which a reply may have an envelope.
    private static func envelopes(_ root: JSONTree, _ own: OwnValues) -> [(path: String, object: JSONTree)] {
        guard root.isObject, !own.haveKey(of: root) else { return [] }
        let isOnly = root.members.count == 1
        return root.members.compactMap { name, value in
            guard value.isObject, !own.hasName(name), isOnly || ["data", "result"].contains(name) else { return nil }
            return (ReplySurvey.member("$", name), value)
        }
    }

    /// Refuses a reply with a message whose severity is that of an error.
    private func checkIssues(_ root: JSONTree, _ reply: [UInt8], _ response: HTTPResponse) throws {
        guard let issue = IssueReport(root), try !hasRule(for: issue.path) else { return }
        let error = refusal(issue.path, issue.value, words: issue.words, response)
        guard issue.isUnclear else { throw error }
        // The object may have such a list itself.
        let own = OwnValues(request)
        let isOfObject = root.members.contains { name, value in
            issue.path.isPath(inside: ReplySurvey.member("$", name)) && own.hasName(name)
        }
        let isObject = hasKey(reply) || own.areShown(in: root)
        guard !isOfObject, !isObject || own.knowsRecords, request.operation != .create || !isObject else { return }
        throw unknown(error)
    }
}
