package import Mapping
internal import Model
package import StoreContract

/// The scans that list the children of changed parents only, and the parents that a page changes.
///
/// ```swift
/// var due = DueParents(model)
/// due.note(entity, key, writtenBy: scan)       // per inserted or updated object
/// for (scan, parents) in due.take() { try tables.forgetStates(ofParents: parents, in: scan) }
/// ```
package struct DueParents {
    /// The scans by the root of their parents; their scopes have no parent.
    private let scans: [Int: [ScanScope]]
    private let roots: [Int]
    private var changed: [ScanScope: Set<String>] = [:]

    /// Finds the scans of a model.
    package init(_ model: CompiledModel) {
        // Most models have none, and each page asks.
        let hasAny = model.model.entities.contains { entity in
            entity.parent?.skipsUnchanged == true || entity.sources.contains { $0.parent?.skipsUnchanged == true }
        }
        guard hasAny else {
            (scans, roots) = ([:], [])
            return
        }
        roots = model.entities.map(\.root)
        var scans: [Int: [ScanScope]] = [:]
        for (index, entity) in model.model.entities.enumerated() {
            let layout = model.entities[index]
            let own = [(source: "", parent: entity.parent)]
            for (source, parent) in own + entity.sources.map({ (source: $0.name, parent: $0.parent) }) {
                guard let parent, parent.skipsUnchanged else { continue }
                let toOne = parent.relationship.flatMap { name in layout.toOne.first { $0.name == name } }
                scans[model.entities[toOne?.target ?? index].root, default: []].append(
                    ScanScope(entity: entity.name, source: source))
            }
        }
        self.scans = scans
    }

    /// Returns whether objects of an entity are parents of such scans.
    package func concerns(_ entity: Int) -> Bool { !scans.isEmpty && scans[roots[entity]] != nil }

    /// Notes that a page inserted or changed an object.
    ///
    /// - Parameter scan: The scan that the page belongs to; what it changes of the parents does not make it due itself.
    package mutating func note(_ entity: Int, _ key: RowKey, writtenBy scan: ScanScope?) {
        guard concerns(entity) else { return }
        for other in scans[roots[entity]] ?? []
        where other.entity != scan?.entity || other.source != scan?.source {
            changed[other, default: []].insert(JSONText.key(key).string)
        }
    }

    /// Returns and forgets the noted parents, as texts of their keys, by the scan of their children.
    package mutating func take() -> [(scan: ScanScope, parents: [String])] {
        guard !changed.isEmpty else { return [] }
        defer { changed = [:] }
        return changed.map { ($0, $1.sorted()) }
    }
}
