internal import BridgeHTTP
internal import BridgeKit
internal import Glibc

/// Reads documents of a WSDL from disk or over HTTP.
enum DocumentReader {
    static func read(_ location: DocumentLocation, client: HTTPClient) throws -> [UInt8] {
        if location.isFile { return try readFile(location.path) }
        let url = location.description
        let exchange = client.start(HTTPRequest(url: url))
        defer { exchange.cancel() }
        guard try exchange.response().status == 200 else { throw try exchange.statusError(asked: "the WSDL") }
        var bytes: [UInt8] = []
        while let chunk = try exchange.nextChunk() {
            bytes += chunk
            guard bytes.count <= DocumentCollector.Limits.documentBytes else {
                throw tooLarge(client.redactor.clean(url: url))
            }
        }
        let response = try exchange.response()
        guard !RemoteWords.isPage(bytes, mediaType: response.mediaType) else {
            throw BridgeError(
                .malformed, "the server answers with a web page, not a WSDL",
                remedy: "check the option wsdl; many services give theirs at their URL with ?wsdl",
                location: response.location,
                remote: RemoteWords.make(bytes, mediaType: response.mediaType).map(response.redactor.clean(_:)))
        }
        return bytes
    }

    private static func tooLarge(_ location: String) -> BridgeError {
        BridgeError(
            .limit, "the document is larger than \(DocumentCollector.Limits.documentBytes >> 20) MiB",
            location: location)
    }

    private static func readFile(_ path: String) throws -> [UInt8] {
        // Not blocking: a FIFO would wait for a writer.
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
