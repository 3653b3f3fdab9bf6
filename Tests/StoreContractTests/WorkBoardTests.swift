import Mapping
import Model
import StoreContract
import Testing

/// Which worker gets which unit, and when a round is over, without a database.
@Suite struct WorkBoardTests {
    private static let plan = [
        WorkUnit(name: "Country", group: "Country", entity: "Country", task: .listing),
        WorkUnit(name: "City", group: "City", entity: "City", task: .split, needs: ["Country"]),
        WorkUnit(name: "City end", group: "City", entity: "City", task: .end, needs: ["Country"]),
        WorkUnit(name: "end", group: "", entity: "", task: .close),
    ]

    private static func range(_ number: Int) -> WorkUnit {
        WorkUnit(name: "City \(number)/2", group: "City", entity: "City", task: .range)
    }

    /// A board with an open round, at the instant 0, and two workers whose leases end at 1,000.
    private func board(_ plan: [WorkUnit] = Self.plan) -> WorkBoard {
        var board = WorkBoard(units: [])
        board.begin(plan)
        for worker in ["a", "b"] { board.hear(of: worker, name: "worker \(worker)", at: 0, for: 1000) }
        return board
    }

    /// Claims a unit; returns it, or nil if there is none now.
    private func claim(
        _ board: inout WorkBoard, by worker: String, at now: Int64 = 0
    ) -> (name: String, epoch: Int64)? {
        guard case .unit(let unit) = board.claim(by: worker, at: now) else { return nil }
        return (unit.name, unit.epoch)
    }

    /// Ends a claimed unit.
    private func end(
        _ board: inout WorkBoard, _ unit: (name: String, epoch: Int64), adding more: [WorkUnit] = [],
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) {
        let isEnded = board.end(unit.name, epoch: unit.epoch, adding: more)
        #expect(isEnded, sourceLocation: sourceLocation)
    }

    /// What a worker would get.
    private func step(_ board: WorkBoard, by worker: String, at now: Int64) -> WorkBoard.Step {
        var copy = board
        return copy.claim(by: worker, at: now)
    }

    @Test func `a unit that ends each of its workers is given up, and one that is given back is not`() throws {
        var board = board()
        for loss in 1...WorkUnit.mostLosses {
            guard case .unit(let unit) = board.claim(by: "worker \(loss)", at: 0) else {
                Issue.record("no unit")
                return
            }
            #expect(!unit.isGivenUp)
            for _ in 1...10 {
                // Asked to stop, it gives the unit back.
                let isReleased = board.release("Country", epoch: board.units[0].epoch)
                #expect(isReleased)
                guard case .unit(let again) = board.claim(by: "worker \(loss)", at: 0) else { return }
                #expect(again.claims == unit.claims)
            }
        }
        guard case .unit(let unit) = board.claim(by: "a", at: 0) else {
            Issue.record("no unit")
            return
        }
        #expect(unit.isGivenUp)
        board.begin(Self.plan)
        guard case .unit(let fresh) = board.claim(by: "a", at: 0) else {
            Issue.record("no unit")
            return
        }
        #expect(!fresh.isGivenUp, "the next round tries again")
    }

    @Test func `units come in an order in which each finds what it needs, and the round ends after the last`() throws {
        var board = board()
        let country = try #require(claim(&board, by: "a"))
        #expect(country.name == "Country")
        #expect(step(board, by: "b", at: 0) == .wait, "the cities need the countries")
        end(&board, country)
        let split = try #require(claim(&board, by: "b"))
        #expect(split.name == "City")
        end(&board, split, adding: [Self.range(1), Self.range(2)])
        let first = try #require(claim(&board, by: "a"))
        let second = try #require(claim(&board, by: "b"))
        #expect([first.name, second.name] == ["City 1/2", "City 2/2"])
        end(&board, second)
        #expect(step(board, by: "b", at: 0) == .wait, "the end waits for all ranges")
        end(&board, first)
        for name in ["City end", "end"] {
            let unit = try #require(claim(&board, by: "a"))
            #expect(unit.name == name)
            #expect(step(board, by: "b", at: 0) == .wait)
            end(&board, unit)
        }
        #expect(step(board, by: "a", at: 0) == .over)
    }

    @Test func `a unit whose worker did not renew its lease is taken over, and the worker cannot end it`() throws {
        var board = board()
        let before = try #require(claim(&board, by: "a"))
        board.hear(of: "b", at: 900, for: 1000)
        #expect(step(board, by: "b", at: 1000) == .wait, "the lease lasts through its last millisecond")
        let after = try #require(claim(&board, by: "b", at: 1001))
        #expect(after.name == before.name && after.epoch > before.epoch)
        #expect(!board.holds(before.name, epoch: before.epoch))
        let (isEnded, isReleased) = (
            board.end(before.name, epoch: before.epoch), board.release(before.name, epoch: before.epoch)
        )
        #expect(!isEnded && !isReleased)
        #expect(board.units[0].claims == 2)
        end(&board, after)
    }

    @Test func `a worker that is heard of keeps its unit for as long as it takes`() throws {
        var board = board()
        let unit = try #require(claim(&board, by: "a"))
        for now in stride(from: Int64(500), through: 10_000, by: 500) {
            board.hear(of: "a", at: now, for: 1000)
            #expect(step(board, by: "b", at: now + 400) == .wait)
        }
        end(&board, unit)
        #expect(board.workers["a"]?.name == "worker a")
    }

    @Test func `a unit that is given back is free at once`() throws {
        var board = board()
        let unit = try #require(claim(&board, by: "a"))
        let isReleased = board.release(unit.name, epoch: unit.epoch)
        #expect(isReleased)
        let again = try #require(claim(&board, by: "b"))
        #expect(again.name == unit.name && again.epoch > unit.epoch)
    }

    @Test func `a claim of an earlier round does not count in a later one`() throws {
        var board = board()
        let old = try #require(claim(&board, by: "a"))
        board.ended = 5
        #expect(!board.isOpen)
        board.begin(Self.plan)
        #expect(board.isOpen && board.round == 2)
        let new = try #require(claim(&board, by: "b"))
        #expect(new.name == old.name && !board.holds(old.name, epoch: old.epoch))
    }

    @Test func `scans that need one another begin with the first`() throws {
        let plan = [
            WorkUnit(name: "A", group: "A", entity: "A", task: .listing, needs: ["B"]),
            WorkUnit(name: "B", group: "B", entity: "B", task: .listing, needs: ["A"]),
            WorkUnit(name: "end", group: "", entity: "", task: .close),
        ]
        var board = board(plan)
        let first = try #require(claim(&board, by: "a"))
        #expect(first.name == "A")
        #expect(step(board, by: "b", at: 0) == .wait)
        end(&board, first)
        let second = claim(&board, by: "b")
        #expect(second?.name == "B")
    }

    @Test func `a round of another configuration is noticed, and ranges do not make a difference`() throws {
        var board = board()
        let country = try #require(claim(&board, by: "a"))
        end(&board, country)
        let split = try #require(claim(&board, by: "a"))
        end(&board, split, adding: [Self.range(1), Self.range(2)])
        #expect(!board.differs(from: Self.plan))
        #expect(board.differs(from: Array(Self.plan.dropFirst())))
    }

    // MARK: - Missing rows

    private static func scope(_ parent: String) -> ScanScope { ScanScope(entity: "City", parent: parent) }

    @Test func `what two processes found missing is decided together`() throws {
        var first = ParentSweep<Int64>()
        // The second row is listed by the other process, under another parent; the third is deleted.
        _ = first.end(Self.scope("[1]"), absent: [2, 3], of: 5, cursor: nil)
        var second = ParentSweep<Int64>()
        second.noteListed(4, refersElsewhere: true)
        _ = second.end(Self.scope("[2]"), absent: [], of: 1, cursor: nil)
        var third = ParentSweep<Int64>()
        _ = third.end(Self.scope("[3]"), absent: [4, 5], of: 2, cursor: nil)

        var all = ParentSweep<Int64>()
        for part in [first, second, third] { all.add(part.saved) }
        var asked: [Int64] = []
        all.keepMissing { row, scope in
            asked.append(row)
            return !(row == 2 && scope == Self.scope("[1]"))
        }
        #expect(asked.sorted() == [2, 3, 5], "a row that another parent's listing has is not asked for")
        let unlimited = all.decide(by: SweepRule(deletionLimit: nil), otherOrigin: nil)
        #expect(unlimited.rows == [3, 5])
        let limited = all.decide(by: SweepRule(deletionLimit: .init(share: 0.1, rows: 1)), otherOrigin: nil)
        #expect(limited.held == SweepResult.LimitExceeded(gone: 2, total: 8, scopes: 2), "limits count all processes")
        #expect(limited.rows == [])
    }
}
