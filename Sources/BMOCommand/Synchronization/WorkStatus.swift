internal import RecordBatch
internal import StoreContract

/// The workers and units of a round, as `bmo status` shows them.
struct WorkStatus {
    let board: WorkBoard

    /// Returns the status; nil if the store has none, or no round ever began.
    init?(_ store: any Store) throws {
        guard let board = try (store as? any WorkStore)?.workBoard() else { return nil }
        self.board = board
    }

    private func count(_ state: WorkUnit.State) -> Int { board.units.count { $0.state == state } }

    private var workers: [(worker: WorkBoard.Worker, units: [String], isAlive: Bool)] {
        board.workers.values.sorted { ($0.name, $0.id) < ($1.name, $1.id) }.map { worker in
            let units = board.units.filter { $0.owner == worker.id }.map(\.name)
            return (worker, units, board.isAlive(worker.id, at: board.instant))
        }
    }

    /// The round in a line, and a line for each worker.
    var text: String {
        var lines = [
            "round \(board.round) of workers: "
                + (board.isOpen
                    ? "\(count(.ended)) of \(board.units.count) units ended, \(count(.working)) in progress" : "over")
        ]
        for (worker, units, isAlive) in workers {
            let has = units.isEmpty ? "no unit" : units.joined(separator: ", ")
            lines.append("worker \(worker.name): \(has)" + (isAlive ? "" : ", its lease has expired"))
        }
        return Terminal.printable(lines.joined(separator: "\n"))
    }

    /// The same as a JSON object.
    var json: String {
        RecordBatchWriter.json { writer in
            writer.member("round", board.round)
            writer.member("open", board.isOpen)
            writer.key("units")
            writer.object { for state in WorkUnit.State.allCases { writer.member(state.rawValue, count(state)) } }
            writer.key("workers")
            writer.array {
                for (worker, units, isAlive) in workers {
                    writer.object {
                        writer.member("name", worker.name)
                        writer.member("alive", isAlive)
                        writer.key("units")
                        writer.array { for unit in units { writer.text(unit) } }
                    }
                }
            }
        }
    }
}
