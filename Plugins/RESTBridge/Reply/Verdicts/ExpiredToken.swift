internal import BridgeHTTP
internal import BridgeKit

/// A reply by which the remote says that it no longer knows a token.
///
/// 410 is the usual one (OData 4.01, protocol, section 11.3; Google, Microsoft Graph); some services answer 400 or 404
/// with a code.
enum ExpiredToken {
    /// The codes of Microsoft Graph.
    private static let codes = [
        "resyncrequired", "resyncchangesapplydifferences", "resyncchangesuploaddifferences", "syncstatenotfound",
        "syncstateinvalid",
    ]

    /// Returns whether a reply to a request with a token says so.
    ///
    /// Call it only if no rule of the section covers the reply's status.
    ///
    /// - Throws: The error of the status, if the body had to be read and says nothing of a token.
    static func isMeant(by response: HTTPResponse, _ exchange: HTTPExchange, asked: String) throws -> Bool {
        switch response.status {
        case 410:
            exchange.cancel()
            return true
        case 400, 404:
            let body = exchange.bodyPrefix()
            let words = String(decoding: body, as: UTF8.self).lowercased()
            if codes.contains(where: { words.contains("\"\($0)\"") }) { return true }
            throw HTTPStatusError.make(response, bodyPrefix: body, asked: asked)
        default: return false
        }
    }
}
