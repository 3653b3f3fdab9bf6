/// The exchanges of a bridge's recording, and how far a replay has used them.
///
/// A recording may have thousands of exchanges, and each request looks for its own: they are found by what must match,
/// and of the report, only the new lines are read.
struct RecordedExchanges {
    /// One exchange of the recording.
    struct Recorded {
        let name: String
        let file: ExchangeFile
        let key: ExchangeKey
    }

    /// All exchanges, in order.
    let all: [Recorded]
    private var matches: [ExchangeKey: Matches] = [:]
    /// The names of used exchanges.
    private var used: Set<String> = []
    /// The number of faults before each exchange, by its name.
    private var faults: [String: Int] = [:]
    /// The end of the lines that were read of the report.
    private var place = 0

    /// The exchanges with the same request: all of them, and those of each entity.
    private struct Matches {
        var any = Queue()
        var ofEntity: [String?: Queue] = [:]
    }

    /// Indices of exchanges, in order.
    private struct Queue {
        var places: [Int] = []
        /// All before it are used, and stay so.
        private var next = 0

        mutating func first(where isUnused: (Int) -> Bool) -> Int? {
            while next < places.count, !isUnused(places[next]) { next += 1 }
            return next < places.count ? places[next] : nil
        }
    }

    init(_ all: [Recorded]) {
        self.all = all
        for (place, recorded) in all.enumerated() {
            matches[recorded.key, default: Matches()].any.places.append(place)
            matches[recorded.key, default: Matches()].ofEntity[recorded.file.entity, default: Queue()].places
                .append(place)
        }
    }

    /// Takes in what this process and others have added to the report.
    mutating func read(_ report: ExchangeFolder.Report) {
        let (lines, end) = report.lines(after: place)
        place = end
        for line in lines {
            let words = line.split(separator: " ", maxSplits: 2)
            guard words.count > 1 else { continue }
            if words[0] == "used" || words[0] == "again" { used.insert(String(words[1])) }
            if words[0] == "fault" { faults[String(words[1]), default: 0] += 1 }
        }
    }

    /// Returns whether no request has used an exchange.
    func isUnused(_ name: String) -> Bool { !used.contains(name) }

    /// Returns the number of faults that were injected before an exchange.
    func faults(before name: String) -> Int { faults[name, default: 0] }

    /// Returns the first unused exchange with this request, if there is one of the entity, or else of any.
    mutating func firstUnused(_ key: ExchangeKey, of entity: String?) -> Recorded? {
        let (all, used) = (self.all, self.used)
        func isUnused(_ place: Int) -> Bool { !used.contains(all[place].name) }
        if let place = matches[key]?.ofEntity[entity]?.first(where: isUnused) { return all[place] }
        return matches[key]?.any.first(where: isUnused).map { all[$0] }
    }

    /// Returns the last exchange with this request, if there is one of the entity, or else of any.
    func last(_ key: ExchangeKey, of entity: String?) -> Recorded? {
        matches[key]?.ofEntity[entity]?.places.last.map { all[$0] } ?? last(key)
    }

    /// Returns the last exchange with this request.
    func last(_ key: ExchangeKey) -> Recorded? { matches[key]?.any.places.last.map { all[$0] } }
}
