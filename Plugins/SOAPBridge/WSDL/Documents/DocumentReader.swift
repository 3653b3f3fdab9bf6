internal import BridgeHTTP
internal import BridgeKit
internal import Glibc
internal import SystemCalls

/// Reads the documents of a WSDL from disk or over HTTP.
struct DocumentReader {
    let client: HTTPClient
    /// The origin that may receive credentials.
    let trusted: DocumentLocation
    let cache: DocumentCache?
    /// Further hosts allowed for imports, in lower case.
    var importHosts: Set<String> = []

    func read(_ location: DocumentLocation) throws -> [UInt8] {
        if location.isFile { return try Self.readFile(location.path) }
        let url = location.description
        let cached = cache?.entry(url)
        var request = HTTPRequest(url: url, headers: cached?.conditions ?? [])
        request.sendsCredentials = location.scheme == trusted.scheme && location.authority == trusted.authority
        // The user's own URL may redirect anywhere; a document's imports may not.
        if location != trusted { request.redirectHosts = importHosts.union([trusted.host]) }
        let exchange = client.start(request)
        defer { exchange.cancel() }
        let response = try exchange.response()
        if response.status == 304, let cached { return cached.bytes }
        guard response.status == 200 else { throw try exchange.statusError(asked: "the WSDL") }
        var bytes: [UInt8] = []
        while let chunk = try exchange.nextChunk() {
            bytes += chunk
            guard bytes.count <= DocumentCollector.Limits.documentBytes else {
                throw Self.tooLarge(client.redactor.clean(url: url))
            }
        }
        cache?.store(bytes, url: url, tag: response.header("etag"), modified: response.header("last-modified"))
        return bytes
    }

    private static func tooLarge(_ location: String) -> BridgeError {
        BridgeError(
            .limit, "the document is larger than \(DocumentCollector.Limits.documentBytes >> 20) MiB",
            location: location)
    }

    /// Reads a regular file no larger than a document may be.
    static func readFile(_ path: String) throws -> [UInt8] {
        do throws(BoundedFile.Failure) {
            return try BoundedFile.read(path, limit: DocumentCollector.Limits.documentBytes, kind: .regular)
        } catch {
            switch error {
            case .tooLarge: throw tooLarge(path)
            case .unreadable:
                throw BridgeError(.notFound, "the file can't be read: \(error.words)", location: path)
            case .irregular:
                throw BridgeError(
                    .configuration, "this is not a regular file", remedy: "check the option wsdl", location: path)
            case .unopenable, .invalidPath, .silent:
                throw BridgeError(
                    error == .unopenable(EACCES) ? .permission : .notFound,
                    "the file can't be opened: \(error.words)", remedy: "check the option wsdl", location: path)
            }
        }
    }
}
