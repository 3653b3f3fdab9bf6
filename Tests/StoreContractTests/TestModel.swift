import ImportTestSupport
import Mapping
import Model
import StoreContract

/// The entities of the tests: cities with a country and twin towns.
enum TestModel {
    static func make(ordered: Bool = false) throws -> CompiledModel {
        var twins = Relationship.many("twins", "City")
        twins.isOrdered = ordered
        return try CompiledModel.of(
            Entity(
                "City", key: ["id"],
                [.of("id", .integer), .of("name", .text), .of("area", .decimal), .of("seen", .timestamp)],
                [.one("country", "Country"), twins]),
            Entity("Country", key: ["code"], [.of("code", .text), .of("name", .text)]))
    }

    static func city() throws -> EntityLayout { try make().entities[0] }
}

extension OutboxEntry {
    /// An entry of the city 7.
    static func of(
        _ id: Int64, _ operation: Operation = .update, _ changes: [FieldEdit] = [], links: [LinkEdit] = [],
        state: State = .pending, dependsOn: [Int64] = []
    ) -> OutboxEntry {
        OutboxEntry(
            id: id, entity: "City", key: [.integer(7)], operation: operation, changes: changes, links: links,
            idempotencyKey: "key \(id)", state: state, created: "2026-01-0\(id)T00:00:00.000000Z",
            dependsOn: dependsOn)
    }
}

extension OutboxEntry.FieldEdit {
    static func of(_ name: String, _ old: StoredValue?, _ new: StoredValue?) -> OutboxEntry.FieldEdit {
        OutboxEntry.FieldEdit(name: name, old: old, new: new)
    }
}

/// A record of the city 7, whose cells point into memory that lives as long as the value.
final class TestRecord {
    let cells: [Cell]
    private let memory: [UnsafeMutableRawBufferPointer]

    /// Columns that are not given are absent.
    init(_ layout: EntityLayout, _ values: [String: StoredValue]) {
        var memory: [UnsafeMutableRawBufferPointer] = []
        cells = layout.fields.map { field in
            switch (values[field.name] ?? (field.name == "id" ? 7 : nil))?.form {
            case nil: return .absent
            case .null: return .null
            case .integer(let value): return .integer(value)
            case .real(let value): return .real(value)
            case .text(let text):
                let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, text.utf8.count), alignment: 1)
                copy.copyBytes(from: text.utf8)
                memory.append(copy)
                return .text(UnsafeRawBufferPointer(rebasing: copy[..<text.utf8.count]))
            case .bytes: return .absent
            }
        }
        self.memory = memory
    }

    deinit { for piece in memory { piece.deallocate() } }
}
