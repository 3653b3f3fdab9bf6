internal import StoreContract
internal import StoreRules
internal import Mapping
internal import Model
internal import RecordBatch

/// The form of an entry in `bmo_outbox`.
///
/// `changes` has the new values by name, and `base` those before; a list of links is an array of keys.
extension OutboxEntry {
    /// Reads a row with the columns of ``OutboxTable``.
    init(_ row: RawStatement, _ model: CompiledModel) throws {
        let entity = row.text(1) ?? ""
        let layout = model.index(of: entity).map { model.entities[$0] }
        let key = row.text(2) ?? ""
        self.init(
            id: row.int64(0), entity: entity, key: layout?.key(from: key) ?? JSONText.parts(of: key) ?? [],
            operation: Operation(rawValue: row.text(3) ?? "") ?? .update,
            idempotencyKey: row.text(6) ?? "", state: State(rawValue: row.text(7) ?? "") ?? .unknown,
            attempts: Int(row.int64(8)), notBefore: row.text(9), created: row.text(10) ?? "",
            failure: try row.text(11).map(OutboxFailure.init(json:)),
            dependsOn: Self.dependencies(row.text(12)), hasTemporaryKey: row.int64(13) != 0,
            mayHaveArrived: row.int64(14) != 0, userInfo: row.text(15))
        try addEdits(new: row.text(4) ?? "{}", base: row.text(5), layout, model)
    }

    /// Returns the IDs in the column `depends_on`.
    static func dependencies(_ text: String?) -> [Int64] {
        (JSONText.parts(of: text ?? "[]") ?? []).compactMap { if case .integer(let id) = $0 { id } else { nil } }
    }

    /// Returns the values of the columns that every write sets, in the order of ``OutboxTable``'s statements.
    func columns(of layout: EntityLayout?) -> [StoredValue] {
        let (new, base) = EditContent.of(self)
        let depends = JSONText.key(dependsOn.sorted().map { StoredValue.integer($0) }).string
        return [
            .text(entity), .text(operation.rawValue), .text(new.json),
            base.map { .text($0.json) } ?? .null, .text(idempotencyKey), .text(state.rawValue),
            .integer(Int64(attempts)), notBefore.map { .text($0) } ?? .null, .text(created),
            failure.map { .text($0.json) } ?? .null, .text(depends), .integer(hasTemporaryKey ? 1 : 0),
            .integer(mayHaveArrived ? 1 : 0), userInfo.map { .text($0) } ?? .null,
        ]
    }
}
