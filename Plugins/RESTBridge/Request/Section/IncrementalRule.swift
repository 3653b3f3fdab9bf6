internal import BridgePaging
internal import BridgeJSON
internal import BridgeKit

/// The rule for fetching only changes, with a token that the remote returns at the end of a scan.
struct IncrementalRule: Sendable {
    /// The place of the token or the delta URL in the reply.
    var token: ReplyPlace
    /// Where the token is sent, or nil if the reply contains a URL.
    var parameter: PagingRule.Parameter?
    /// The path of the deleted objects in the reply.
    var deleted: JSONPath?

    /// - Parameter bodyPrefix: Where a JSON body has its parameters, as for the paging's; nil without one.
    init?(_ options: BridgeOptions?, bodyPrefix: [String]?) throws {
        guard let options else { return nil }
        guard let text = options.string("token") else {
            throw BridgeError(
                .configuration, "incremental.token is missing", remedy: "say where the reply holds the token")
        }
        token = try ReplyPlace(text, option: "incremental.token")
        // The schema allows the query and the body.
        parameter = try options.string("parameter").map {
            try PagingRule.Parameter($0, in: options.string("in"), bodyPrefix: bodyPrefix, option: "incremental.in")
        }
        deleted = try options.string("deleted").map { try JSONPath($0, option: "incremental.deleted") }
    }

    init(token: ReplyPlace, parameter: PagingRule.Parameter?, deleted: JSONPath?) {
        self.token = token
        self.parameter = parameter
        self.deleted = deleted
    }

    /// The delta link of OData 4.01 (part 1, section 11.3).
    static let odata = try? IncrementalRule(
        token: .body(JSONPath("$['@odata.deltaLink']", option: "preset")), parameter: nil, deleted: nil)
}
