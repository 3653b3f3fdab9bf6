internal import Mapping
internal import Model
internal import StoreContract

/// The writer as the rules of local edits and undo see it.
extension TableWriter: ObjectWriter {
    package func isReferred(_ root: Int, _ key: RowKey) throws -> Bool { try isReferred(root, key, except: []) }

    package func isLoading(_ root: Int) -> Bool { run.isLoading(root) }

    package func list(_ root: Int, _ relationship: Int, of owner: RowKey) throws -> [RowKey] {
        try links(root, relationship).keys(of: owner)
    }

    package func setList(_ root: Int, _ relationship: Int, of owner: RowKey, to wanted: [RowKey]) throws {
        try links(root, relationship).set(wanted, of: owner)
    }

    package func takeBackList(
        _ root: Int, _ relationship: Int, of owner: RowKey, from new: LinkSpan, to old: LinkSpan
    ) throws -> Bool {
        try links(root, relationship).takeBack(old, new, of: owner)
    }

    package func noteCreated(_ root: Int, _ key: RowKey) throws {
        guard try tables.provenance(root, key).isEmpty else { return }
        let run = try runIDIfAny()
        try tables.setProvenance(
            root, key,
            [
                ProvenanceRecord(
                    bridge: source?.bridge ?? "", scan: source?.scan ?? "", columns: [], firstRun: run, lastRun: run,
                    location: source?.location, isListed: false)
            ])
    }

    // MARK: - Keys

    package func changeKey(_ root: Int, from old: RowKey, to new: RowKey) throws {
        guard var values = try tables.row(root, old) else { return }
        for (field, value) in zip(model.entities[root].key, new) { values[field] = value }
        try tables.erase(root, old)
        try tables.write(root, new, values)
    }

    package func redirect(_ root: Int, from old: RowKey, to new: RowKey) throws {
        touched.insert(root)
        for other in model.entities where other.index == other.root {
            for (index, toOne) in other.toOne.enumerated() where model.entities[toOne.target].root == root {
                try replaceReferences(other, index, toOne, old, new)
            }
            for toMany in other.toMany {
                guard case .links(let table) = toMany.storage else { continue }
                if model.entities[toMany.target].root == root { try replaceTargets(table, other, old, new) }
                if other.index == root { try moveList(table, old, new) }
            }
        }
        try renameBookkeeping(model.entities[root], old, new)
    }

    private func replaceReferences(
        _ layout: EntityLayout, _ index: Int, _ toOne: EntityLayout.ToOne, _ old: RowKey, _ new: RowKey
    ) throws {
        for key in try tables.referrers(layout.index, index, to: old) {
            guard var row = try tables.row(layout.index, key) else { continue }
            for (offset, value) in new.enumerated() { row[toOne.firstField + offset] = value }
            try tables.write(layout.index, key, row)
            touched.insert(layout.index)
        }
    }

    /// Replaces the old key in lists; removes it from those that have both keys.
    private func replaceTargets(_ table: String, _ source: EntityLayout, _ old: RowKey, _ new: RowKey) throws {
        for link in try tables.reversedLinks(table, to: old) {
            let hasBoth = try tables.links(table, of: link.key).contains { $0.key == new }
            try tables.setLink(table, of: link.key, at: link.position, to: hasBoth ? nil : new)
            touched.insert(source.index)
        }
    }

    private func moveList(_ table: String, _ old: RowKey, _ new: RowKey) throws {
        for link in try tables.links(table, of: old) {
            try tables.setLink(table, of: old, at: link.position, to: nil)
            try tables.setLink(table, of: new, at: link.position, to: link.key)
        }
    }

    private func renameBookkeeping(_ layout: EntityLayout, _ old: RowKey, _ new: RowKey) throws {
        // The history continues under the object's new key.
        try tables.renameHistory(of: layout.name, from: JSONText.key(old).string, to: JSONText.key(new).string)
        let records = try tables.provenance(layout.index, old)
        if !records.isEmpty {
            let known = try tables.provenance(layout.index, new)
            try tables.setProvenance(layout.index, old, [])
            try tables.setProvenance(layout.index, new, known.isEmpty ? records : known)
        }
        try tables.renameOrphans(layout.index, from: old, to: new)
        if try tables.setStub(layout.index, old, false) { _ = try tables.setStub(layout.index, new, true) }
    }
}
