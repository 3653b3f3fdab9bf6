import Testing

@testable import BMO

/// When a watch tries entities again whose syncs failed.
@Suite struct FailingEntitiesTests {
    private let start = ContinuousClock.now

    @Test func `an entity that news asked for is due after 2 s, 4 s and so on, however long the rounds are`() {
        var failing = FailingEntities(every: .seconds(3600))
        var now = start
        for pause in [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900] {
            failing.noteAsked(["Country"], ("it is away", []), at: now)
            #expect(failing.message == "it is away")
            #expect(failing.asked(at: now + .seconds(pause - 1)).isEmpty, "\(pause)")
            now += .seconds(pause)
            #expect(failing.asked(at: now) == ["Country"], "\(pause)")
            #expect(failing.nextAsked == now)
        }
        #expect(failing.count == 11)
        #expect(failing.pauseOfRounds == .seconds(3600), "the other entities do not wait for it")
        failing.noteAsked(["Country"], nil, at: now)
        #expect(failing.count == 0 && failing.message == nil && failing.nextAsked == nil)
    }

    @Test func `only those of the asked entities that failed are tried again`() {
        var failing = FailingEntities(every: .seconds(3600))
        failing.noteAsked(["City", "Country"], ("it is away", ["City"]), at: start)
        #expect(failing.isAsked("City") && !failing.isAsked("Country"))
        #expect(failing.waiting(at: start) == ["City"])
        #expect(failing.asked(at: start + .seconds(2)) == ["City"])
        // A round in between leaves it out, and does not count as its success.
        failing.noteRound(nil, without: ["City"], at: start + .seconds(1))
        #expect(failing.asked(at: start + .seconds(2)) == ["City"])
        failing.noteRound(nil, at: start + .seconds(3))
        #expect(failing.count == 0)
    }

    @Test func `an entity that a round left out has not recovered, although its pause ended during the round`() {
        var failing = FailingEntities(every: .seconds(3600))
        failing.noteAsked(["City", "Country"], ("they are away", ["City", "Country"]), at: start)
        failing.noteRound(nil, without: ["City"], at: start + .seconds(60))
        #expect(failing.isAsked("City"), "it was not tried")
        #expect(!failing.isAsked("Country"), "it was tried, and has succeeded")
        #expect(failing.asked(at: start + .seconds(60)) == ["City"])
        // The next failure is its second one: it waits 4 s, not 2 s.
        failing.noteAsked(["City"], ("it is away", []), at: start + .seconds(60))
        #expect(failing.nextAsked == start + .seconds(64))
    }

    @Test func `news of an entity that a round leaves out are kept, unless a later sync includes them`() {
        var failing = FailingEntities(every: .seconds(3600))
        failing.noteRound(("they are away", ["City", "Country"]), asked: ["City"], at: start)
        let waiting = failing.waiting(at: start + .seconds(1))
        #expect(waiting == ["City", "Country"])
        let changes = ["City", "Country", "Person"].map { RemoteNews.Change(entity: $0, keys: [["1"]]) }
        #expect(failing.leftOut(of: changes, waiting: waiting) == [RemoteNews.Change(entity: "Country", keys: [["1"]])])
        failing.noteRound(("all is away", []), without: waiting, asked: ["Country"], at: start + .seconds(1))
        #expect(!failing.isAsked("Country"), "it was not tried")
    }

    @Test func `an entity that fails in a round waits for a round, unless news asked for it`() {
        var failing = FailingEntities(every: .seconds(60))
        failing.noteRound(("they are away", ["City", "Country"]), asked: ["City"], at: start)
        #expect(failing.nextAsked == start + .seconds(2))
        #expect(failing.waiting(at: start + .seconds(59)) == ["Country"])
        #expect(failing.asked(at: start + .seconds(1000)) == ["City"])
    }

    @Test func `news of a round in which everything failed are followed soon`() {
        var failing = FailingEntities(every: .seconds(3600))
        failing.noteRound(("all is away", []), asked: ["City"], at: start)
        #expect(failing.asked(at: start + .seconds(2)) == ["City"])
        failing.noteAsked(["City"], nil, at: start + .seconds(2))
        #expect(failing.count == 1 && failing.message == "all is away", "a round has to succeed")
        failing.noteRound(nil, at: start + .seconds(3600))
        #expect(failing.count == 0)
    }

    @Test func `the pause of rounds doubles up to a quarter of an hour, and is never shorter than the interval`() {
        var failing = FailingEntities(every: .seconds(30))
        let pauses = (0..<8).map { _ in
            failing.noteRound(("all is away", []), at: start)
            return failing.pauseOfRounds
        }
        #expect(pauses == [30, 60, 120, 240, 480, 900, 900, 900].map { .seconds($0) })
        var slow = FailingEntities(every: .seconds(7200))
        slow.noteRound(("all is away", []), at: start)
        #expect(slow.pauseOfRounds == .seconds(7200))
    }
}
