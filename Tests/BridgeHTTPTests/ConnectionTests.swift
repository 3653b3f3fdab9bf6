import BridgeHTTP
import BridgeKit
import Foundation
import RecordBatch
import TestSupport
import Testing

/// TLS, HTTP/2 and proxies.
@Suite struct ConnectionTests {
    private func text(_ client: HTTPClient, _ url: String) throws -> String {
        String(decoding: try client.start(HTTPRequest(url: url)).body(), as: UTF8.self)
    }

    @Test func `https checks certificates, offers HTTP/2 and shows a client certificate`() throws {
        let server = try SecureServer()
        let stranger = try client()
        let error = try bridgeError { _ = try text(stranger, server.url) }
        #expect(error.code == .tls)
        #expect(error.message.contains("certificate"))
        #expect(error.remedy == "check the certificate, or name its authority in tls.ca_file")

        let trusting = try client { writer in writer.set("tls") { writer.set("ca_file", server.certificate) } }
        #expect(try text(trusting, server.url) == "HTTP/2.0 client NONE")
        let blind = try client { writer in writer.set("tls") { writer.set("verify", false) } }
        #expect(try text(blind, server.url) == "HTTP/2.0 client NONE")
        let old = try client { writer in
            writer.set("http_version", "1.1")
            writer.set("tls") {
                writer.set("ca_file", server.certificate)
                writer.set("client_certificate", server.certificate)
                writer.set("client_key", server.key)
            }
        }
        #expect(try text(old, server.url) == "HTTP/1.1 client SUCCESS")
        for (path, words) in [
            ("/nowhere/ca.pem", "tls.ca_file: there is no file /nowhere/ca.pem"),
            ("/tmp", "tls.ca_file: /tmp is not a file"),
            ("/etc/passwd", "tls.ca_file: /etc/passwd is not a PEM file"),
        ] {
            let lost = try bridgeError {
                _ = try client { writer in writer.set("tls") { writer.set("ca_file", path) } }
            }
            #expect(lost.code == .configuration)
            #expect(lost.message == words)
        }
    }

    @Test func `many streams share one HTTP/2 connection`() throws {
        let server = try SecureServer()
        let client = try client { writer in writer.set("tls") { writer.set("ca_file", server.certificate) } }
        let exchanges = (0..<20).map { _ in client.start(HTTPRequest(url: server.url)) }
        for exchange in exchanges {
            #expect(String(decoding: try exchange.body(), as: UTF8.self) == "HTTP/2.0 client NONE")
        }
    }

    @Test(arguments: ["2", "1.1"])
    func `a compressed body comes whole over TLS, or is reported as cut`(version: String) throws {
        let server = try SecureServer()
        try server.compress(3_000_000)
        let client = try client { writer in
            writer.set("http_version", version)
            writer.set("tls") { writer.set("ca_file", server.certificate) }
        }
        // Several through one handle.
        for _ in 0..<3 {
            let body = try client.start(HTTPRequest(url: server.url + "/gzip/whole")).body()
            #expect(body.count == 3_000_000)
            let error = try bridgeError { _ = try client.start(HTTPRequest(url: server.url + "/gzip/cut")).body() }
            #expect(error.code == .malformed && error.isRetryable, "\(error)")
            #expect(error.message.contains("its gzip data, of which "), "\(error)")
            #expect(try text(client, server.url).hasPrefix("HTTP/\(version)"))
        }
    }

    @Test func `a proxy gets the request and its password, and no error shows the password`() throws {
        let server = try RemoteServer.fixture()
        let client = try client { writer in
            writer.set("proxy") {
                writer.set("url", server.url)
                writer.set("user", "ann")
                writer.set("password", "s3cret")
            }
        }
        let body = try text(client, "http://api.invalid/echo")
        #expect(body.contains(#""path": "http://api.invalid/echo""#))
        #expect(body.contains(#""proxy-authorization": "Basic YW5uOnMzY3JldA==""#))
        let error = try client.start(HTTPRequest(url: "http://api.invalid/status/407?s3cret")).statusError(asked: "x")
        #expect(error.code == .authentication)
        #expect(!error.description.contains("s3cret"))
    }
}
