internal import Mapping
internal import StoreContract

/// What those edits wait for that a push would not send now, as far as the outbox says.
///
/// An edit that waits only for others that the same push sends before it does not count.
struct PendingWaits {
    private struct Object: Hashable {
        let root: Int?
        let key: [StoredValue]
    }

    /// What an edit waits for, in words, and the time of its next try if that has not come.
    struct Reason {
        let words: String
        let next: String?
    }

    private let entries: [Int64: OutboxEntry]
    /// Each entry's predecessor for the same object.
    private var before: [Int64: Int64] = [:]
    private let now = Clock.now()
    /// Whether a push leaves an entry where it is, as far as that was asked.
    private var held: [Int64: Bool] = [:]
    private let isFaulty: (OutboxEntry) -> Bool

    /// - Parameters:
    ///   - all: The outbox, in order of creation.
    ///   - isFaulty: Returns whether an edit cannot be sent with the present configuration.
    init(_ all: [OutboxEntry], in model: CompiledModel, isFaulty: @escaping (OutboxEntry) -> Bool) {
        entries = Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        self.isFaulty = isFaulty
        var last: [Object: Int64] = [:]
        for entry in all {
            let root = model.index(of: entry.entity).map { model.entities[$0].root }
            before[entry.id] = last.updateValue(entry.id, forKey: Object(root: root, key: entry.key))
        }
        // In this order, an entry's predecessors are known before it.
        for entry in all { _ = isHeld(entry) }
    }

    /// Returns what a pending edit waits for; nil if a push would send it now.
    mutating func reason(for entry: OutboxEntry) -> Reason? {
        var words: [String] = []
        var creates: [Int64] = []
        for id in entry.dependsOn { if let other = entries[id], isHeld(other) { creates.append(id) } }
        if !creates.isEmpty {
            words.append(PushRun.words(waitingForCreates: creates))
        } else if let earlier = firstHeld(before: entry) {
            words.append(PushRun.words(waitingFor: earlier))
        }
        let next = entry.isDue(at: now) ? nil : entry.notBefore
        if let next { words.append("next try at \(next)" + (entry.failure.map { " (\($0.code))" } ?? "")) }
        return words.isEmpty ? nil : Reason(words: words.joined(separator: "; "), next: next)
    }

    /// Returns the first edit of the same object that holds up the later ones.
    private mutating func firstHeld(before entry: OutboxEntry) -> OutboxEntry? {
        var first: OutboxEntry?
        var id = before[entry.id]
        while let known = id, let earlier = entries[known], isHeld(earlier) {
            first = earlier
            id = before[known]
        }
        return first
    }

    private mutating func isHeld(_ entry: OutboxEntry) -> Bool {
        if let known = held[entry.id] { return known }
        // An edit that waits for itself is never sent.
        held[entry.id] = true
        var isHeld = entry.state != .pending || !entry.isDue(at: now) || isFaulty(entry)
        let others = entry.dependsOn + [before[entry.id]].compactMap(\.self)
        for id in others where !isHeld {
            if let other = entries[id] { isHeld = self.isHeld(other) }
        }
        held[entry.id] = isHeld
        return isHeld
    }
}
