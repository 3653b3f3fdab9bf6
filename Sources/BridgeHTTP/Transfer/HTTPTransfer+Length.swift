internal import BridgeKit

extension HTTPTransfer {
    /// Returns the error for a reply that names different lengths of its body (RFC 9110, section 8.6).
    ///
    /// libcurl takes one of them, so that a part of the body could pass for the whole.
    static func contradiction(in response: HTTPResponse) -> BridgeError? {
        var lengths: [String] = []
        for field in response.all("content-length") {
            for part in field.split(separator: ",", omittingEmptySubsequences: false) {
                let length = part.filter { $0 != " " && $0 != "\t" }
                if !lengths.contains(length) { lengths.append(length) }
            }
        }
        guard lengths.count > 1 else { return nil }
        return BridgeError(
            .malformed,
            "the reply names different lengths of its body: Content-Length is "
                + response.redactor.clean(lengths.prefix(5).joined(separator: " and ")),
            remedy: "have the server, or a proxy before it, send one", location: response.location)
    }
}
