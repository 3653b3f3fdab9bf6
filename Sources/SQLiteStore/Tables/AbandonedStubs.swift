internal import StoreContract
internal import Mapping

/// The objects that may have become unreferenced stubs in the open transaction.
///
/// Code that removes a reference notes its ends here, and each is checked once before the transaction is committed; see
/// ``AbandonedStubRemover``.
final class AbandonedStubs {
    private struct Candidate: Hashable {
        let root: Int
        let key: [StoredValue]
    }

    private let model: CompiledModel
    private let stubs: StubTable
    /// The number of stubs of each entity's root; most have none, and then nothing is noted.
    private let counts: [ObjectCount]
    private var candidates: Set<Candidate> = []

    init(_ model: CompiledModel, _ stubs: StubTable) {
        self.model = model
        self.stubs = stubs
        counts = model.entities.map { stubs.count(of: model.entities[$0.root].name) }
    }

    /// Returns whether an entity has stubs, so that references to its objects are noted.
    func mayHave(_ entity: Int) -> Bool { counts[entity].value > 0 }

    /// Notes that a reference to or from an object was removed.
    func note(_ entity: Int, _ key: [StoredValue]) throws {
        guard mayHave(entity), !key.isEmpty, !key.contains(.null) else { return }
        let root = model.entities[entity].root
        guard try stubs.contains(model.entities[root].name, .key(key)) else { return }
        candidates.insert(Candidate(root: root, key: key))
    }

    /// Notes a reference to an object that was not stored, or only briefly: a stub created for it is abandoned.
    func noteOffered(_ entity: Int, _ key: [StoredValue]) {
        guard !key.isEmpty, !key.contains(.null) else { return }
        candidates.insert(Candidate(root: model.entities[entity].root, key: key))
    }

    /// Drops candidates that are not stubs if there are very many; call it after a batch.
    func prune() throws {
        guard candidates.count > Self.most else { return }
        candidates = try candidates.filter {
            try mayHave($0.root) && stubs.contains(model.entities[$0.root].name, .key($0.key))
        }
    }

    /// The number of candidates kept without a check.
    private static let most = 10_000

    /// Discards the notes of a page that was rolled back.
    func forget() { candidates = [] }

    /// Takes the notes, in a fixed order that makes the history reproducible.
    func take() -> [(root: Int, key: [StoredValue])] {
        defer { candidates = [] }
        return candidates.map { ($0.root, $0.key) }.sorted {
            ($0.root, ExactText(JSONText.key($0.key).string)) < ($1.root, ExactText(JSONText.key($1.key).string))
        }
    }
}
