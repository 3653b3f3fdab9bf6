internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// Replies that have a status for each part of the change, as JSON: with the status 207 (RFC 4918, section 13), and to batches,
/// such as those of OData (JSON format 4.01, section 19) and FHIR.
extension RESTObjectWriter {
    /// A part of the reply, with a status of its own.
    private struct Part {
        let path: String
        let status: Int
        let value: JSONTree

        var isFailed: Bool { status >= 400 }

        /// The remote's message, if there is one.
        var words: String? {
            for name in ["body", "error", "errors", "outcome", "response", "result"] {
                guard let part = value[name] else { continue }
                let tree = part.text.flatMap {
                    $0.hasPrefix("{") ? try? JSONTree(parsing: Array($0.utf8), what: "") : nil
                }
                let inner = tree ?? part
                let issue = inner["issue"]?.elements?.first
                if let words = issue.flatMap(IssueReport.words) ?? FailedChange.words(inner["error"] ?? inner) {
                    return words
                }
            }
            return FailedChange.message(value)
        }
    }

    /// Refuses a reply with a part that failed.
    ///
    /// - Returns: Whether each part of a reply 207 says that it succeeded.
    /// - Throws: ``BridgeError``: the part's refusal; if other parts succeeded or got no answer, the outcome is unknown.
    func checkParts(of root: JSONTree, _ response: HTTPResponse) throws -> Bool {
        let isMulti = response.status == 207
        let parts = isMulti ? Self.parts(of: root) : batchParts(of: root)
        let isDelete = request.operation == .delete
        // A delete of what does not exist is done.
        let failed = parts.filter { $0.isFailed && !(isDelete && [404, 410].contains($0.status)) }
        guard let first = failed.first else { return isMulti && !parts.isEmpty }
        if try hasRule(for: first.path) { return true }
        var error = refusal(first.path, String(first.status), words: first.words, response)
        let isOpen = failed.contains { HTTPStatusError.leavesOpen($0.status) }
        guard failed.count == parts.count, !isOpen else { throw unknown(error) }
        switch first.status {
        case 404 where request.operation == .update: error.code = .notFound
        case 409, 412: error.code = .conflict
        case 429, 503: error.isRetryable = true
        default: break
        }
        throw error
    }

    /// Returns the parts: the elements of the reply, or of a list in it, that have a status.
    private static func parts(of root: JSONTree) -> [Part] {
        let lists =
            root.elements.map { [("$", $0)] }
            ?? root.members.compactMap { member in member.value.elements.map { ("$.\(member.name)", $0) } }
        let parts = lists.flatMap { place, elements in
            elements.enumerated().compactMap { part($0.element, at: "\(place)[\($0.offset)]") }
        }
        return parts.isEmpty ? [part(root, at: "$")].compactMap(\.self) : parts
    }

    /// Returns the parts of the reply to a batch, which has another status.
    ///
    /// Objects may have lists of such names and a status, too: each part must consist of what tells its outcome.
    private func batchParts(of root: JSONTree) -> [Part] {
        let own = OwnValues(request)
        guard !own.isIdentified(root), !own.areShown(in: root) else { return [] }
        let lists =
            root.elements.map { [("$", $0)] }
            ?? root.members.compactMap { name, value in
                guard OutcomeWords.plainBatches.contains(OutcomeWords.plain(name)), !own.hasName(name) else {
                    return nil
                }
                return value.elements.map { (ReplySurvey.member("$", name), $0) }
            }
        for (place, elements) in lists {
            let isOfBatch = ["$.responses", "$.compositeResponse"].contains(place)
            let parts = elements.enumerated().compactMap { index, element -> Part? in
                let isPart = element.members.allSatisfy { name, value in
                    value == .null || OutcomeWords.plainPartMembers.contains(OutcomeWords.plain(name))
                        || own.identities.contains(name)
                }
                guard isPart, !own.areShown(in: element) else { return nil }
                return Self.batchPart(element, at: "\(place)[\(index)]") { isOfBatch || !own.hasName($0) }
            }
            if !parts.isEmpty, parts.count == elements.count { return parts }
        }
        return []
    }

    /// - Parameters:
    ///   - value: An object with a status, or whose only object has one.
    ///   - isStatus: Whether a member of that name can be a status, and not a value of the changed object.
    private static func batchPart(_ value: JSONTree, at place: String, isStatus: (String) -> Bool) -> Part? {
        let hasBody = value["body"] != nil
        let names = OutcomeWords.partStatuses.filter { hasBody || isStatus($0) } + (hasBody ? ["code"] : [])
        if let part = part(value, at: place, names) { return part }
        let objects = value.members.filter {
            $0.value.isObject && OutcomeWords.plainActions.contains($0.name.lowercased())
        }
        guard let (name, inner) = objects.first, objects.count == 1 else { return nil }
        return part(inner, at: ReplySurvey.member(place, name), OutcomeWords.partStatuses)
    }

    /// - Parameter value: An object with a status, or with an object that has one, as in Elasticsearch's bulk replies.
    private static func part(_ value: JSONTree, at place: String) -> Part? {
        part(value, at: place, OutcomeWords.partStatuses + ["code"])
            ?? value.members.lazy.filter(\.value.isObject).compactMap { member in
                part(member.value, at: "\(place).\(member.name)", OutcomeWords.statusCodes)
            }.first
    }

    /// - Parameter names: The members that may have the status; the first one that does counts.
    private static func part(_ value: JSONTree, at place: String, _ names: [String]) -> Part? {
        names.lazy.compactMap { name in
            value[name]?.plainText.flatMap(status).map {
                Part(path: ReplySurvey.member(place, name), status: $0, value: value)
            }
        }.first
    }

    /// Returns the status in a text such as `422` or `HTTP/1.1 422 Unprocessable Content`.
    private static func status(_ text: String) -> Int? {
        text.split(separator: " ").lazy.compactMap { Int($0) }.first.flatMap { (100...599).contains($0) ? $0 : nil }
    }
}
