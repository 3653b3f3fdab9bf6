internal import Importer
internal import Mapping

/// What is said of keys that stand for several objects of the remote.
struct RepeatedKeyWords {
    private let layout: EntityLayout
    private let parent: String?

    init(_ plan: WalkPlan, _ model: CompiledModel) {
        layout = model.entities[plan.index]
        parent = plan.parent?.relationship
    }

    /// A line for each kind that a walk found.
    func warnings(of sweep: SweepResult) -> [String] {
        [sweep.shared.map(shared), sweep.repeated.map(repeated)].compactMap { $0 }
    }

    private func shared(_ keys: RepeatedKeys) -> String {
        let name = parent ?? "parent"
        let parents = keys.parents.map { "\(name) \(Self.text($0))" }.joined(separator: ", ")
        let key = (["\(name)_key"] + layout.key.map { layout.fields[$0].name }).joined(separator: ", ")
        return
            "key \(Self.text(keys.key)) came from two parents (\(parents))\(more(keys)): use `key: [\(key)]`, with an "
            + "attribute \(name)_key that reads the parent's key (rest: records that lack it get it by request_fields)"
    }

    private func repeated(_ keys: RepeatedKeys) -> String {
        "key \(Self.text(keys.key)) came twice in one listing, with other values\(more(keys)): the last one is kept; "
            + "if these are several objects, add to `key` what tells them apart"
    }

    private func more(_ keys: RepeatedKeys) -> String {
        switch keys.count {
        case ...1: ""
        case 2: ", and so did another key"
        default: ", and so did \(keys.count - 1) more keys"
        }
    }

    private static func text(_ key: [StoredValue]) -> String { key.map(\.description).joined(separator: " ") }
}
