/// The units of a round and the workers, as a pure state machine: which unit a worker gets, and when a round is over.
///
/// A store keeps the board and changes it under a lock; no instant comes from a worker's own clock.
///
/// ```swift
/// var board = WorkBoard(units: plan)
/// board.hear(of: "a", at: now, for: 30_000)
/// if case .unit(let unit) = board.claim(by: "a", at: now) { board.end(unit.name, epoch: unit.epoch) }
/// ```
public struct WorkBoard: Sendable, Equatable {
    /// A process that works on units, as far as the others know it.
    public struct Worker: Sendable, Equatable {
        /// Its identity, a random text.
        public var id: String
        /// How it describes itself: command, process and host; no secrets.
        public var name: String
        /// The end of its lease, in milliseconds since 1970: afterwards others may take its units.
        public var until: Int64

        /// Creates a worker.
        public init(id: String, name: String, until: Int64) {
            self.id = id
            self.name = name
            self.until = until
        }
    }

    /// What a worker is to do next.
    public enum Step: Sendable, Equatable {
        /// It has this unit now.
        case unit(WorkUnit)
        /// Other workers have what is left, or other units need it; ask again later.
        case wait
        /// All units have ended.
        case over
    }

    /// The round's number; 0 before the first.
    public var round: Int64 = 0
    /// When the round ended, in milliseconds since 1970; nil while it is open.
    public var ended: Int64?
    /// The units, in the order in which they are preferred.
    public var units: [WorkUnit]
    /// When the board was read, on the store's clock, in milliseconds since 1970.
    public var instant: Int64 = 0
    /// The workers that were heard of, by identity.
    public var workers: [String: Worker] = [:]

    /// Creates the board of a round.
    public init(units: [WorkUnit]) { self.units = units }

    /// Whether a round is open.
    public var isOpen: Bool { round > 0 && ended == nil }

    // MARK: - Workers

    /// Notes that a worker is alive: its lease begins anew.
    ///
    /// - Parameters:
    ///   - id: The worker's ID.
    ///   - name: The worker's name; empty if it is known.
    ///   - now: The time in milliseconds.
    ///   - lease: The length of the lease in milliseconds.
    public mutating func hear(of id: String, name: String = "", at now: Int64, for lease: Int64) {
        workers[id] = Worker(id: id, name: workers[id]?.name ?? name, until: now + lease)
    }

    /// Returns whether a worker's lease has not ended.
    public func isAlive(_ id: String, at now: Int64) -> Bool { workers[id].map { $0.until >= now } ?? false }

    // MARK: - Rounds

    /// Begins a round with these units.
    ///
    /// Epochs are greater than those of all earlier rounds, so that a worker that was stopped since then cannot write.
    public mutating func begin(_ plan: [WorkUnit]) {
        round += 1
        ended = nil
        units = plan.map(fresh)
    }

    private func fresh(_ unit: WorkUnit) -> WorkUnit {
        var unit = unit
        (unit.state, unit.owner, unit.claims) = (.waiting, nil, 0)
        unit.epoch = round << 20
        return unit
    }

    /// Returns whether the open round has other units than those that a plan begins with, as that of another
    /// configuration.
    public func differs(from plan: [WorkUnit]) -> Bool {
        func names(_ units: [WorkUnit]) -> [String] {
            units.filter { $0.task != .range }.map { "\($0.name) \($0.task.rawValue) \($0.needs)" }
        }
        return names(units) != names(plan)
    }

    // MARK: - Units

    /// Gives a worker the first unit that can be worked on.
    ///
    /// A unit of a worker whose lease has ended can be taken over, with a new epoch.
    public mutating func claim(by worker: String, at now: Int64) -> Step {
        let open = units.indices.filter { units[$0].state != .ended }
        if open.isEmpty { return .over }
        let free = open.filter { index in
            units[index].state == .waiting || units[index].owner.map { !isAlive($0, at: now) } ?? true
        }
        var chosen = free.first { isReady($0) }
        // Scans that need one another: the first begins.
        if chosen == nil, free.count == open.count { chosen = free.first { breaksCycle($0) } }
        guard let chosen else { return .wait }
        units[chosen].state = .working
        units[chosen].owner = worker
        units[chosen].epoch += 1
        units[chosen].claims += 1
        return .unit(units[chosen])
    }

    /// Returns whether a claim still counts.
    public func holds(_ name: String, epoch: Int64) -> Bool {
        units.contains { $0.name == name && $0.epoch == epoch && $0.state == .working }
    }

    /// Ends a claimed unit, and adds the units that it was divided into.
    ///
    /// - Returns: Whether the claim still counted; otherwise nothing changes.
    public mutating func end(_ name: String, epoch: Int64, adding more: [WorkUnit] = []) -> Bool {
        guard holds(name, epoch: epoch), let index = units.firstIndex(where: { $0.name == name }) else { return false }
        units[index].state = .ended
        units[index].owner = nil
        units.insert(contentsOf: more.map(fresh), at: index + 1)
        return true
    }

    /// Gives a claimed unit back, so that another worker can go on with it at once.
    ///
    /// - Returns: Whether the claim still counted; otherwise nothing changes.
    public mutating func release(_ name: String, epoch: Int64) -> Bool {
        guard holds(name, epoch: epoch), let index = units.firstIndex(where: { $0.name == name }) else { return false }
        units[index].state = .waiting
        units[index].owner = nil
        units[index].claims = max(0, units[index].claims - 1)
        return true
    }

    private func isReady(_ index: Int) -> Bool {
        let unit = units[index]
        return units.indices.allSatisfy { other in
            guard other != index, units[other].state != .ended else { return true }
            switch unit.task {
            case .close: return false
            case .end where units[other].group == unit.group: return false
            default: return !unit.needs.contains(units[other].group)
            }
        }
    }

    /// Whether a unit may begin although others that it needs have not ended.
    private func breaksCycle(_ index: Int) -> Bool { ![.end, .close].contains(units[index].task) }
}
