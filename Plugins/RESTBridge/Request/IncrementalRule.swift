internal import BridgeJSON
internal import BridgeKit

/// How a later fetch gets only what moved: by a token that the remote gives at a walk's end.
struct IncrementalRule: Sendable {
    /// Where the reply holds the token or the delta URL.
    var token: ReplyPlace
    /// The query parameter that takes it back; nil: what the reply holds is a URL.
    var parameter: String?
    /// Where the reply lists what is gone.
    var deleted: JSONPath?

    init?(_ options: BridgeOptions?) throws {
        guard let options else { return nil }
        guard let text = options.string("token") else {
            throw BridgeError(
                .configuration, "incremental.token is missing", remedy: "say where the reply holds the token")
        }
        token = try ReplyPlace(text, option: "incremental.token")
        parameter = options.string("parameter")
        deleted = try options.string("deleted").map { try JSONPath($0, option: "incremental.deleted") }
    }

    init(token: ReplyPlace, parameter: String?, deleted: JSONPath?) {
        self.token = token
        self.parameter = parameter
        self.deleted = deleted
    }

    /// OData 4.01, part 1, section 11.3: the delta link.
    static let odata = try? IncrementalRule(
        token: .body(JSONPath("$['@odata.deltaLink']", option: "preset")), parameter: nil, deleted: nil)
}
