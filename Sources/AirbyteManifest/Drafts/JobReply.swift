/// The reply to the request that creates an export's job, as far as the later requests use it.
///
/// A class, because each text of the later requests may be the first that needs the job's id.
final class JobReply {
    /// Where the reply has the value that is `{id}`: a path, or the name of a header field; nil as long as none is used.
    private(set) var id: String?

    /// Returns the members of that reply to which a path leads, or nil if the path leads elsewhere.
    static func members(_ names: [String]) -> [String]? {
        let inner = insideSlice(names)
        guard let first = inner.first, ["creation_response", "create_job_response"].contains(first) else { return nil }
        return Array(inner.dropFirst())
    }

    /// Whether an expression is the URL of a file.
    static func isTarget(_ expression: Expression?) -> Bool {
        guard case .path(let names)? = expression else { return false }
        return insideSlice(names) == ["download_target"] || names == ["slice", "url"]
    }

    /// Returns a path without the slice that some manifests name before a request's result.
    private static func insideSlice(_ names: [String]) -> ArraySlice<String> {
        names.first == "slice" ? names.dropFirst().drop { $0 == "extra_fields" } : names[...]
    }

    /// Returns the place of a value in the syntax of `create.id`.
    static func place(_ members: [String]) throws -> String {
        guard let first = members.first else { throw Untranslatable("only Python can send the job's whole reply") }
        guard first == "headers" else { return RecordsPath.text(members) }
        guard members.count == 2 else {
            throw Untranslatable("its job is a part of \(members.joined(separator: "."))")
        }
        return members[1]
    }

    /// Returns the variable of a member of the reply.
    func variable(_ members: [String]) throws -> String {
        let place = try Self.place(members)
        if let id, id != place {
            throw Untranslatable("its requests use two values of the job's reply, \(id) and \(place)")
        }
        id = place
        return "{id}"
    }
}
