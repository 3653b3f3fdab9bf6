internal import Mapping
internal import StoreContract

extension LocalEditor {
    /// Gives an edited object, and all that refers to it, the key by which an import finds it; see
    /// ``StoredValue/identity``.
    package func unifyKey(of id: Int64) throws {
        guard let entry = try outbox.entry(id), let root = model.root(of: entry) else { return }
        try KeyRename(tables).rename(
            root, entry.key, to: entry.key.map(\.identity), isTemporary: entry.hasTemporaryKey)
    }
}
