internal import Mapping
internal import Model
internal import StoreContract
internal import StoreRules

extension SQLiteStore {
    /// Gives edited objects whose decimal keys an earlier version stored as they were received the keys that an import
    /// gives them: `2.50` becomes `2.5`.
    ///
    /// An import would not find the edit otherwise, and no conflict of it could be decided. Other rows need nothing of this
    /// kind: the next full sync replaces them.
    func unifyEditedKeys() throws {
        let entities = model.entities.filter { layout in
            layout.key.contains { layout.fields[$0].type == .decimal }
        }
        let entries = try entities.flatMap { try outbox(entity: $0.name) }.filter { $0.key.map(\.identity) != $0.key }
        for entry in entries {
            // What cannot be changed now stays as it is, and the next time tries again.
            do {
                _ = try changeRows("resolve", "unifying the key of an edit") { try $0.unifyKey(of: entry.id) }
            } catch let error as StoreError where error.code == .busy {
                return
            } catch {}
        }
    }
}
