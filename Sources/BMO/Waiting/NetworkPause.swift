/// When something goes on that failed for lack of a network: a value without I/O.
struct NetworkPause: Sendable {
    /// What to do now.
    enum Step: Equatable {
        case goOn, giveUp
        /// Ask again at this time, or when the state changes.
        case wait(until: Duration)
    }

    /// The time at which it is given up.
    let end: Duration
    /// How long the network has to stay, with the random part.
    let settling: Duration
    private var availableSince: Duration?

    init(end: Duration, settling: Duration) {
        self.end = end
        self.settling = settling
    }

    /// Notes what the network is like from now on.
    mutating func note(_ state: NetworkState, at time: Duration) {
        switch state {
        case .available: availableSince = availableSince ?? time
        case .unavailable: availableSince = nil
        }
    }

    /// Returns what to do at a time.
    func step(at time: Duration) -> Step {
        let ready = availableSince.map { $0 + settling }
        if let ready, ready <= time, ready <= end { return .goOn }
        return time >= end ? .giveUp : .wait(until: min(ready ?? end, end))
    }
}
