internal import StoreContract
internal import Mapping

/// The attribute of a list's objects between whose least and greatest value a page of the list is complete.
///
/// Examples are a page of a conversation and the events of a week; see ``ListUpdate``.
final class LinkWindow {
    private let lookUp: RawStatement

    init(_ attribute: String, of target: EntityLayout, on connection: OpaquePointer?) {
        let quoted = SchemaBuilder.quoted
        let key = target.key.map { "\(quoted(target.fields[$0].name)) = ?" }
        lookUp = RawStatement(
            "SELECT \(quoted(attribute)) FROM \(quoted(target.table)) WHERE \(key.joined(separator: " AND "))",
            on: connection)
    }

    /// Returns an object's value; null if there is none.
    func value(of key: [StoredValue]) throws -> StoredValue {
        for (index, part) in key.enumerated() { lookUp.bind(part, at: Int32(index + 1)) }
        defer { lookUp.reset() }
        return try lookUp.step() ? lookUp.value(0) : .null
    }
}
