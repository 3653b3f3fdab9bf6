import ImportTestSupport
import Mapping
import Model
import RecordBatch
import TestSupport

/// What a mapping made of records, as lines that a person can read.
///
/// `Post id=1 title='x'` is an object with the fields that the remote mentioned, `(Post) id=1` a mere reference,
/// `0.tags: 'a' 'b'` the relationship of the row with that number, and `! 1: reason` a rejected record.
///
/// - Parameter parent: The parent's key, in a scan per parent.
func mapped(
    _ records: Literal..., as entity: String, parent: [StoredValue]? = nil, in model: CompiledModel
) throws -> String {
    let batch = try Literal.batch(records)
    guard let index = model.index(of: entity) else { return "no entity \(entity)" }
    let page = Mapper(model).map(batch, as: index, parent: parent)
    return withExtendedLifetime(page) { page.text(in: model) }
}

/// What becomes of one value of an attribute: the local value as SQL writes it, `absent`, or `! ` and the reason.
func local(_ value: Literal, as type: AttributeType, _ transformers: Transformer...) throws -> String {
    let attribute = Attribute(name: "value", type: type, transformers: transformers)
    let model = try CompiledModel.of(Entity("E", key: ["id"], [.of("id", .integer), attribute]))
    let text = try mapped(["id": 1, "value": value], as: "E", in: model)
    if text.hasPrefix("! 0: E.value: ") { return "! " + text.dropFirst("! 0: E.value: ".count) }
    return text.hasPrefix("E id=1 value=") ? String(text.dropFirst("E id=1 value=".count)) : text
}

extension MixedPage {
    func text(in model: CompiledModel) -> String {
        var lines: [String] = []
        for row in rows {
            let layout = model.entities[row.entity]
            let values = layout.fields.enumerated().compactMap { offset, field in
                cells[row.firstCell + offset].value.map { "\(field.name)=\($0.literal)" }
            }
            let name = row.isReference ? "(\(layout.name))" : layout.name
            lines.append(([name] + values).joined(separator: " "))
        }
        for link in links {
            let relationship = model.entities[rows[link.row].entity].toMany[link.relationship]
            let width = model.entities[relationship.target].key.count
            let keys = (0..<link.count).map { index in
                let first = link.firstCell + index * width
                return linkCells[first..<first + width].map { $0.value?.literal ?? "absent" }.joined(separator: "/")
            }
            lines.append((["\(link.row).\(relationship.name):"] + keys).joined(separator: " "))
        }
        for rejection in rejections { lines.append("! \(rejection.record): \(rejection.reason)") }
        return lines.joined(separator: "\n")
    }
}
