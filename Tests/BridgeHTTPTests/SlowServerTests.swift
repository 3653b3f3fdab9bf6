import BridgeHTTP
import BridgeKit
import Foundation
import TestSupport
import Testing

/// Servers that are slow on purpose, with small limits.
@Suite struct SlowServerTests {
    let server: RemoteServer

    private static let shared = Result { try RemoteServer.fixture("hostile.py") }

    init() throws { server = try Self.shared.get() }

    private func slow() throws -> HTTPClient {
        try client { writer in
            writer.set("first_byte_timeout", 3)
            writer.set("minimum_speed", 1000)
            writer.set("minimum_speed_time", 1)
        }
    }

    @Test(arguments: [
        ("silence", "the reply did not begin within 3 s", "first_byte_timeout"),
        ("head", "the reply is slower than 1000 bytes a second: ", "minimum_speed"),
        ("body", "the reply is slower than 1000 bytes a second: ", "minimum_speed"),
    ])
    func `a slow reply ends with the limit's name`(where place: String, words: String, option: String) throws {
        let began = ContinuousClock.now
        let error = try bridgeError {
            _ = try slow().start(HTTPRequest(url: server.url + "/drip/\(place)?pause=0.05")).body()
        }
        #expect(error.code == .timeout && error.isRetryable)
        #expect(error.message.hasPrefix(words), "\(error)")
        #expect(error.remedy?.contains(option) == true, "\(error)")
        #expect(ContinuousClock.now - began < .seconds(15))
    }

    @Test func `a request may have limits of its own`() throws {
        var request = HTTPRequest(url: server.url + "/drip/body?pause=0.01")
        let options = BridgeOptions { $0.set("minimum_speed", 1_000_000) }
        request.timing = try slow().timing.replaced(by: options)
        let error = try bridgeError { _ = try client().start(request).body() }
        #expect(error.message.hasPrefix("the reply is slower than 1000000 bytes a second"), "\(error)")
    }

    @Test func `a slow reader does not count against the server`() throws {
        var request = HTTPRequest(url: server.url + "/stream?mib=8")
        request.bufferLimit = 1 << 20
        let exchange = try slow().start(request)
        var count = 0
        while let chunk = try exchange.nextChunk() {
            count += chunk.count
            // Longer than the time over which the speed is measured.
            Thread.sleep(forTimeInterval: count < 2 << 20 ? 1.6 : 0)
        }
        #expect(count == 8 << 20)
    }

    @Test func `a body has pieces of one size, however it arrives`() throws {
        let exchange = try client().start(HTTPRequest(url: server.url + "/stream?mib=8"))
        var pieces = EvenPieces(of: exchange, size: 100_000)
        var sizes: [Int] = []
        while let piece = try pieces.next() { sizes.append(piece.count) }
        #expect(sizes == Array(repeating: 100_000, count: 83) + [(8 << 20) - 8_300_000])
        #expect(try pieces.next() == nil)
    }

    @Test func `a piece of a server that falls silent is returned after a second`() throws {
        let exchange = try client().start(HTTPRequest(url: server.url + "/stop/silence"))
        var pieces = EvenPieces(of: exchange, size: 100)
        let began = ContinuousClock.now
        #expect(try pieces.next()?.count == 10)
        #expect(ContinuousClock.now - began < .seconds(10))
    }

    @Test func `a body that breaks off fails after what had arrived of it`() throws {
        let exchange = try client().start(HTTPRequest(url: server.url + "/stop/end"))
        var pieces = EvenPieces(of: exchange, size: 100)
        #expect(try pieces.next()?.count == 10)
        for _ in 0..<2 {
            let error = try bridgeError { _ = try pieces.next() }
            #expect(error.isRetryable, "\(error)")
        }
    }

    @Test func `a slow server's piece is returned as far as it has arrived`() throws {
        let exchange = try client().start(HTTPRequest(url: server.url + "/drip/body?pause=0.1"))
        var pieces = EvenPieces(of: exchange, after: [1, 2, 3], size: 100)
        let began = ContinuousClock.now
        let piece = try #require(try pieces.next())
        #expect(piece.starts(with: [1, 2, 3]) && piece.count > 3 && piece.count < 100)
        #expect(ContinuousClock.now - began < .seconds(10))
    }

    @Test(arguments: [("first_byte_timeout", 0.0), ("minimum_speed_time", -1), ("timeout", 0), ("minimum_speed", -5)])
    func `a limit that is none is refused`(name: String, value: Double) throws {
        let error = try bridgeError {
            if name == "minimum_speed" {
                _ = try client { $0.set(name, Int(value)) }
            } else {
                _ = try client { $0.set(name, value) }
            }
        }
        #expect(error.code == .configuration && error.message.hasPrefix(name), "\(error)")
    }

    @Test func `a longer wait for the first byte stays allowed`() throws {
        let long = try client { $0.set("idle_timeout", 200) }.timing
        #expect(long.firstByte == 200 && long.speedTime == 200)
        let short = try client { $0.set("idle_timeout", 5) }.timing
        #expect(short.firstByte == 30 && short.speedTime == 30)
    }

    @Test(arguments: [0, 2_000_001, Int.max])
    func `a time without a byte that libcurl cannot count is refused`(seconds: Int) throws {
        let error = try bridgeError { _ = try client { $0.set("idle_timeout", seconds) } }
        #expect(error.code == .configuration && error.message.hasPrefix("idle_timeout is \(seconds)"), "\(error)")
        #expect(try client { $0.set("idle_timeout", 2_000_000) }.timing.firstByte == 2_000_000)
    }
}
