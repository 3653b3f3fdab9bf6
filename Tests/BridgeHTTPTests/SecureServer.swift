import Foundation
import Glibc

/// An nginx with TLS and HTTP/2 on a free port, and a certificate of its own making; stopped when dropped.
final class SecureServer {
    /// Such as `https://127.0.0.1:12345`; it answers with the protocol's name.
    let url: String
    /// The certificate, which is its own authority; clients may use it too.
    let certificate: String
    /// The certificate's private key.
    let key: String
    private let process: Process
    private let folder: URL

    struct Failure: Error {
        let what: String
    }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "bmo-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        certificate = folder.appending(path: "cert.pem").path
        key = folder.appending(path: "key.pem").path
        let openssl = try Self.launch([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
            "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out",
            certificate,
        ])
        openssl.waitUntilExit()
        let port = try Self.freePort()
        let root = folder.path
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(root)/\($0);" }
        let configuration = """
            daemon off; master_process off; pid \(root)/pid; error_log \(root)/error.log;
            events { worker_connections 64; }
            http {
              access_log off; \(paths.joined(separator: " "))
              ssl_certificate \(certificate); ssl_certificate_key \(key);
              ssl_client_certificate \(certificate); ssl_verify_client optional;
              server {
                listen 127.0.0.1:\(port) ssl http2;
                location / { return 200 "$server_protocol client $ssl_client_verify"; }
                location /gzip/ { alias \(root)/gzip/; default_type application/json; add_header Content-Encoding gzip; }
              }
            }
            """
        try configuration.write(to: folder.appending(path: "nginx.conf"), atomically: true, encoding: .utf8)
        process = try Self.launch(["nginx", "-c", "\(root)/nginx.conf", "-e", "\(root)/error.log"])
        url = "https://127.0.0.1:\(port)"
        let deadline = ContinuousClock.now + .seconds(20)
        while !Self.accepts(port) {
            guard process.isRunning, ContinuousClock.now < deadline else {
                throw Failure(what: (try? String(contentsOfFile: "\(root)/error.log", encoding: .utf8)) ?? "no log")
            }
            usleep(5000)
        }
    }

    /// Has `/gzip/whole` answer with as many bytes, compressed, and `/gzip/cut` with the first half of that.
    func compress(_ count: Int) throws {
        let place = folder.appending(path: "gzip")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let plain = place.appending(path: "whole")
        // Nothing that could be said in a few bytes.
        var number: UInt32 = 1
        let bytes = (0..<count).map { _ in
            number = number &* 1_664_525 &+ 1_013_904_223
            return UInt8(number >> 24)
        }
        try Data(bytes).write(to: plain)
        let gzip = try Self.launch(["gzip", "-f", plain.path])
        gzip.waitUntilExit()
        let packed = try Data(contentsOf: place.appending(path: "whole.gz"))
        try packed.write(to: plain)
        try packed.prefix(packed.count / 2).write(to: place.appending(path: "cut"))
    }

    deinit {
        // A child of a test's thread inherits a mask that blocks SIGTERM.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    private static func launch(_ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.environment = ["PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    private static func withSocket<Result>(port: UInt16, _ body: (Int32, sockaddr_in) throws -> Result) rethrows
        -> Result
    {
        let handle = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(handle) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return try body(handle, address)
    }

    private static func accepts(_ port: UInt16) -> Bool {
        withSocket(port: port) { handle, address in
            withUnsafeBytes(of: address) { bytes in
                bytes.withMemoryRebound(to: sockaddr.self) {
                    connect(handle, $0.baseAddress, socklen_t(bytes.count)) == 0
                }
            }
        }
    }

    private static func freePort() throws -> UInt16 {
        try withSocket(port: 0) { handle, address in
            var address = address
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let code = withUnsafeMutableBytes(of: &address) { bytes in
                bytes.withMemoryRebound(to: sockaddr.self) {
                    bind(handle, $0.baseAddress, size) == 0 ? getsockname(handle, $0.baseAddress, &size) : -1
                }
            }
            guard code == 0 else { throw Failure(what: "no free port") }
            return UInt16(bigEndian: address.sin_port)
        }
    }
}
