internal import StoreContract
internal import Mapping

/// The writers of links, one per relationship, each made on first use.
final class LinkWriters {
    private let model: CompiledModel
    private let changes: ChangeLog
    private let abandoned: AbandonedStubs
    private let connection: OpaquePointer?
    private var writers: [[Int]: LinkWriter] = [:]

    init(
        _ model: CompiledModel, _ changes: ChangeLog, _ abandoned: AbandonedStubs, on connection: OpaquePointer?
    ) {
        self.model = model
        self.changes = changes
        self.abandoned = abandoned
        self.connection = connection
    }

    /// Returns the writer of a relationship, by its index in the entity's layout.
    func callAsFunction(_ entity: Int, _ relationship: Int) -> LinkWriter {
        let root = model.entities[entity].root
        if let writer = writers[[root, relationship]] { return writer }
        let layout = model.entities[root]
        let writer = LinkWriter(
            layout.toMany[relationship], of: layout, model, on: connection, changes: changes, abandoned: abandoned)
        writers[[root, relationship]] = writer
        return writer
    }
}
