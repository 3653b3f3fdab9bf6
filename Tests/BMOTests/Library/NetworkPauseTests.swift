import Testing
@testable import BMO

/// When a request goes on that waits for the network, without I/O and without a clock.
@Suite struct NetworkPauseTests {
    @Test func `it goes on when the network has stayed for a while`() {
        var pause = NetworkPause(end: .seconds(600), settling: .seconds(3))
        pause.note(.unavailable, at: .zero)
        #expect(pause.step(at: .zero) == .wait(until: .seconds(600)))
        pause.note(.available, at: .seconds(10))
        #expect(pause.step(at: .seconds(10)) == .wait(until: .seconds(13)))
        // It says again what is known.
        pause.note(.available, at: .seconds(12))
        #expect(pause.step(at: .seconds(13)) == .goOn)
    }

    @Test func `a network that comes and goes does not count as back`() {
        var pause = NetworkPause(end: .seconds(600), settling: .seconds(3))
        pause.note(.available, at: .seconds(10))
        pause.note(.unavailable, at: .seconds(12))
        #expect(pause.step(at: .seconds(14)) == .wait(until: .seconds(600)))
        pause.note(.available, at: .seconds(15))
        #expect(pause.step(at: .seconds(17)) == .wait(until: .seconds(18)))
        #expect(pause.step(at: .seconds(18)) == .goOn)
    }

    @Test func `it is given up at the time limit`() {
        var pause = NetworkPause(end: .seconds(20), settling: .seconds(3))
        #expect(pause.step(at: .seconds(20)) == .giveUp)
        pause.note(.available, at: .seconds(19))
        #expect(pause.step(at: .seconds(19)) == .wait(until: .seconds(20)), "the limit comes before it has settled")
        #expect(pause.step(at: .seconds(20)) == .giveUp)
        #expect(pause.step(at: .seconds(30)) == .giveUp)
    }

    @Test(arguments: [
        ("localhost", true), ("127.0.0.1", true), ("127.8.9.1", true), ("[::1]", true), ("::1", true),
        ("app.localhost", true), ("LOCALHOST", true), ("127.0.0.1.example.com", false), ("10.0.0.1", false),
        ("127.example.com", false), ("localhost.example.com", false), ("", false),
    ])
    func `a remote of this machine needs no network`(host: String, isLocal: Bool) {
        #expect(Workspace.isLoopback(host) == isLocal)
    }
}
