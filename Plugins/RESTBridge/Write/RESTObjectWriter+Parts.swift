internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// Replies 207, which have a status for each part of the change (RFC 4918, section 13), as JSON.
extension RESTObjectWriter {
    /// A part of the reply, with a status of its own.
    private struct Part {
        let path: String
        let status: Int
        let value: JSONTree

        var isFailed: Bool { status >= 400 }
    }

    /// Refuses a reply with a part that failed.
    ///
    /// - Returns: Whether each part says that it succeeded.
    /// - Throws: ``BridgeError``: the part's refusal; if other parts succeeded, the outcome is unknown.
    func checkParts(of root: JSONTree, _ response: HTTPResponse) throws -> Bool {
        let parts = Self.parts(of: root)
        let isDelete = request.operation == .delete
        // A delete of what does not exist is done.
        let failed = parts.filter { $0.isFailed && !(isDelete && [404, 410].contains($0.status)) }
        guard let first = failed.first else { return !parts.isEmpty }
        if try hasRule(for: first.path) { return true }
        var error = BridgeError(
            .remote, "\(asked): the reply has status 207, but says \(first.path) is \(first.status)",
            remedy: "if that means success, say so under responses: {when: {path: \"\(first.path)\"}, action: accept}",
            location: response.location,
            remote: FailedChange.words(first.value).map { String(response.redactor.clean($0).prefix(300)) })
        guard failed.count == parts.count else { throw unknown(error) }
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

    /// - Parameter value: An object with a status, or with an object that has one, as in Elasticsearch's bulk replies.
    private static func part(_ value: JSONTree, at place: String) -> Part? {
        for name in ["status", "statusCode", "status_code", "httpStatus", "http_status", "code", "Status"] {
            guard let text = value[name]?.plainText, let status = status(text) else { continue }
            return Part(path: "\(place).\(name)", status: status, value: value)
        }
        return value.members.lazy.filter(\.value.isObject).compactMap { member in
            ["status", "statusCode", "status_code"].lazy.compactMap { name in
                member.value[name]?.plainText.flatMap(status).map {
                    Part(path: "\(place).\(member.name).\(name)", status: $0, value: member.value)
                }
            }.first
        }.first
    }

    /// Returns the status in a text such as `422` or `HTTP/1.1 422 Unprocessable Content`.
    private static func status(_ text: String) -> Int? {
        text.split(separator: " ").lazy.compactMap { Int($0) }.first.flatMap { (100...599).contains($0) ? $0 : nil }
    }
}
