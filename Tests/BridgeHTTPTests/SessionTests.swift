import BridgeHTTP
import Foundation
import RecordBatch
import TestSupport
import Testing

@testable import BridgeKit

/// The option `session_header`: what makes a request go out again, who may hand out a value, and that none is written down.
@Suite struct SessionTests {
    let server: RemoteServer

    init() throws { server = try RemoteServer.fixture() }

    private func keeper() throws -> HTTPClient { try client { $0.set("session_header", "X-Zoo-Session-Id") } }

    private func refused(_ query: String) -> String { "/zoo/refused-session?\(query)" }

    private func asked(_ path: String) throws -> Int {
        try server.events().filter { $0.event == "begin" && $0.path.hasPrefix(path) }.count
    }

    @Test(arguments: [400, 401, 403, 409, 412, 419, 404, 408, 410, 422, 425, 429, 500, 503])
    func `a refusal that wants another value is answered once, none that means something else`(status: Int) throws {
        let path = refused("status=\(status)")
        #expect(try keeper().start(HTTPRequest(url: server.url + path)).response().status == status)
        #expect(try asked(path) == ([400, 401, 403, 409, 412, 419].contains(status) ? 2 : 1))
    }

    @Test func `a refusal with the value that was sent is the answer`() throws {
        let client = try keeper()
        let path = refused("fixed=1")
        for count in [2, 3] {
            #expect(try client.start(HTTPRequest(url: server.url + path)).response().status == 409)
            #expect(try asked(path) == count)
        }
    }

    @Test func `another origin neither sets the value nor gets the request again`() throws {
        let client = try keeper()
        let path = refused("status=409")
        var abroad = HTTPRequest(url: server.otherURL + path)
        abroad.sendsCredentials = false
        #expect(try client.start(abroad).response().status == 409)
        #expect(try asked(path) == 1)
        let home = client.start(HTTPRequest(url: server.url + "/echo"))
        let echo = try JSONDecoder().decode(HTTPClientTests.Echo.self, from: Data(try home.body()))
        #expect(echo.headers["x-zoo-session-id"] == nil)
    }

    @Test func `a recording holds none of the values, and plays them back`() throws {
        let folder = try TemporaryFolder()
        // Nothing in this name says that it holds a secret.
        let path = refused("name=X-Zoo-Ticket&status=400")
        func scan(_ mode: String) throws -> [String] {
            var context = BridgeContext()
            context.exchange = ExchangeTape(
                BridgeOptions { writer in
                    writer.set("@exchange") {
                        writer.set("folder", folder.path)
                        writer.set("mode", mode)
                    }
                })
            let options = try HTTPOptions(BridgeOptions { $0.set("session_header", "X-Zoo-Ticket") })
            let client = try HTTPClient(options: options, context: context)
            return try (0..<2).map { _ in
                let exchange = client.start(HTTPRequest(url: server.url + path))
                #expect(try exchange.response().status == 400)
                return String(decoding: try exchange.body(), as: UTF8.self)
            }
        }
        #expect(try scan("record").last?.contains("s3cret-ticket-3 is over, take s3cret-ticket-4") == true)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".http") }
        let texts = try names.sorted().map { try String(contentsOfFile: folder.appending($0), encoding: .utf8) }
        #expect(texts.count == 4)
        #expect(texts.nonEmptyAllSatisfy { !$0.contains("s3cret") }, "\(texts)")
        #expect(texts.last?.contains("***3 is over, take ***4") == true, "\(texts)")
        #expect(texts.last?.contains("X-Zoo-Ticket: ***\n") == true, "\(texts)")
        #expect(try scan("replay").last?.contains("***3 is over, take ***4") == true)
        #expect(try asked(path) == 4)
    }
}
