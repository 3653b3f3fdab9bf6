internal import BridgeHTTP
internal import BridgeKit
internal import Glibc

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
        // Non-blocking, because opening a FIFO would wait for a writer.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            let code = errno
            throw BridgeError(
                code == EACCES ? .permission : .notFound,
                "the file can't be opened: \(String(cString: strerror(code)))", remedy: "check the option wsdl",
                location: path)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw BridgeError(
                .configuration, "this is not a regular file", remedy: "check the option wsdl", location: path)
        }
        guard status.st_size <= DocumentCollector.Limits.documentBytes else { throw tooLarge(path) }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(file, buffer.baseAddress.map { $0 + done }, buffer.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw BridgeError(
                    .notFound, "the file can't be read: \(String(cString: strerror(errno)))", location: path)
            }
            if count == 0 { break }
            done += count
        }
        return Array(bytes.prefix(done))
    }
}
