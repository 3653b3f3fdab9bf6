internal import BridgePaging
internal import BridgeJSON
internal import BridgeKit

/// The rule for fetching only changes, with a token that the remote returns at the end of a scan.
struct IncrementalRule: Sendable {
    /// The place of the token or the delta URL in the reply.
    var token: ReplyPlace
    /// The query parameter for the token, or nil if the reply contains a URL.
    var parameter: String?
    /// The path of the deleted objects in the reply.
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

    /// The delta link of OData 4.01 (part 1, section 11.3).
    static let odata = try? IncrementalRule(
        token: .body(JSONPath("$['@odata.deltaLink']", option: "preset")), parameter: nil, deleted: nil)
}
