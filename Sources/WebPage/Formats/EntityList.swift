internal import BMO
internal import Mapping
internal import Model
internal import StoreContract
internal import WebServer

/// What a list of an entity's rows shows, as the query of its address says: conditions, order and first row.
struct EntityList: Sendable {
    /// The entity.
    let layout: EntityLayout
    /// The conditions as written, in the grammar of `--where`.
    var conditions: [String]
    /// The field to order by; nil for the key.
    var sort: RowQuery.Order?
    /// The place after which the page starts.
    let place: ListPlace
    /// The number of rows on a page.
    var limit: Int

    /// The maximum number of rows on a page, and in an export as JSON or CSV.
    static let maxRows = 500
    static let maxExportedRows = 10_000

    private let parsed: [LocalCondition]

    /// Reads an address' query: `where` (several times), `sort`, `limit` and the fields of ``ListPlace``; `field`, `is` and
    /// `value` of the filter's form make a further condition.
    ///
    /// - Throws: ``PageFailure`` for a fault in the query.
    init(_ query: FormFields, of layout: EntityLayout, isExport: Bool) throws {
        self.layout = layout
        conditions = query.values(of: "where").filter { !$0.isEmpty }
        if let field = query["field"], let comparison = query["is"], let value = query["value"], !field.isEmpty {
            conditions.append(try Self.text(field, comparison, value, of: layout))
        }
        parsed = try conditions.map { try Self.condition($0, of: layout) }
        sort = try query["sort"].flatMap { $0.isEmpty ? nil : try Self.order($0, of: layout) }
        place = ListPlace(query)
        let most = isExport ? Self.maxExportedRows : Self.maxRows
        let usual = isExport ? 1000 : 50
        guard let text = query["limit"] else {
            limit = usual
            return
        }
        guard let number = Int(text), (1...most).contains(number) else {
            throw PageFailure(400, "The limit is a number from 1 to \(most), not \"\(text)\".")
        }
        limit = number
    }

    /// Returns the condition of the filter's form as text.
    private static func text(
        _ field: String, _ comparison: String, _ value: String, of layout: EntityLayout
    ) throws -> String {
        let type = layout.columns.first { $0.name == field }?.type
        if value.utf8.first == UInt8(ascii: " "), type == .text || type == .json || type == .url {
            throw PageFailure(
                400,
                "Spaces before a value do not count, so \"\(value)\" cannot be looked for. Leave them out, or choose "
                    + "\"like\" and write % for them.")
        }
        let text = LocalCondition.text(field, comparison, value)
        guard let read = LocalCondition(text), (read.field, read.comparison.rawValue) == (field, comparison) else {
            throw PageFailure(
                400, "\"\(text)\" is not a valid condition: \"\(comparison)\" is not a comparison.")
        }
        return text
    }

    private static func condition(_ text: String, of layout: EntityLayout) throws -> LocalCondition {
        guard let condition = LocalCondition(text) else {
            throw PageFailure(400, "\"\(text)\" is not a condition; \(LocalCondition.remedy(for: text)).")
        }
        guard layout.columns.contains(where: { $0.name == condition.field }) else {
            throw PageFailure(400, "\(layout.name) has no field \"\(condition.field)\".")
        }
        return condition
    }

    private static func order(_ text: String, of layout: EntityLayout) throws -> RowQuery.Order {
        let isDescending = text.hasPrefix("-")
        let name = String(isDescending ? text.dropFirst() : text[...])
        guard layout.columns.contains(where: { $0.name == name }) else {
            throw PageFailure(400, "\(layout.name) has no field \"\(name)\" to sort by.")
        }
        return RowQuery.Order(name, isDescending: isDescending)
    }

    /// The rows of a page.
    struct Rows: Sendable {
        var rows: [EntityRow]
        /// Whether further rows follow.
        var hasMore: Bool
        /// Whether the place after which the page should start is lost, so that the page is the first one.
        var hasLostPlace = false
    }

    /// The query without the place after which the page starts.
    var query: RowQuery {
        RowQuery(layout.name, where: parsed, order: sort.map { [$0] } ?? [], limit: limit + 1)
    }

    /// Reads the page's rows; a later page costs no more than the first.
    ///
    /// A page ends before its last row if that row's key is too long for the address of the next page.
    ///
    /// - Throws: ``PageFailure`` for a place that the entity cannot have, and if all keys are too long; `StoreError`.
    func rows(in store: any Store) throws -> Rows {
        var query = query
        var hasLostPlace = false
        if !place.key.isEmpty {
            query.after = try place.row(in: store, of: layout, by: sort)
            hasLostPlace = query.after == nil
        }
        let rows = try store.rows(of: query)
        var page = Array(rows.prefix(limit))
        guard rows.count > limit else { return Rows(rows: page, hasMore: false, hasLostPlace: hasLostPlace) }
        while let last = page.last, !ListPlace(of: last, in: layout, by: sort).fitsAddress { page.removeLast() }
        guard !page.isEmpty else {
            throw PageFailure(
                400,
                "The keys of these rows are too long for the address of the next rows: choose a larger limit, or use "
                    + "`bmo list \(layout.name)`.")
        }
        return Rows(rows: page, hasMore: true, hasLostPlace: hasLostPlace)
    }

    /// Returns the fields of an address' query for the page that starts after a row.
    func following(_ row: EntityRow) -> [(name: String, value: String)] {
        ListPlace(of: row, in: layout, by: sort).query
    }
}
