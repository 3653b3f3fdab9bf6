internal import Mapping
internal import StoreContract
internal import WebServer

/// The rows of an entity as JSON or CSV, with the same queries as the entity's page.
enum EntityExport {
    /// A format, which the ending of the address names.
    enum Format: String, CaseIterable {
        case json, csv

        var type: String { self == .json ? "application/json" : "text/csv; charset=utf-8; header=present" }
    }

    /// Returns the entity and the format that the last part of an address names; nil for a page.
    static func name(in part: String) -> (entity: String, format: Format)? {
        for format in Format.allCases where part.hasSuffix(".\(format.rawValue)") {
            return (String(part.dropLast(format.rawValue.count + 1)), format)
        }
        return nil
    }

    /// Returns the rows; a `Link` field (RFC 8288) leads to the next ones.
    static func response(
        _ context: PageContext, entity: String, _ format: Format, _ query: FormFields
    ) async throws -> WebResponse {
        let layout = try context.layout(entity)
        let list = try EntityList(query, of: layout, isExport: true)
        let rows = try await context.readers.read { try list.rows(in: $0) }
        // The first rows in their place would be repeated.
        guard !rows.hasLostPlace else {
            throw PageFailure(
                410, "The row before these rows is gone or has changed. Begin again: leave out \"after\" and \"at\".")
        }
        let text = format == .json ? RowExport.json(rows.rows, layout) : RowExport.csv(rows.rows, layout)
        var response = WebResponse(200, type: format.type, text: text)
        // Has the browser save the CSV. An entity's name is an identifier and needs no escapes.
        if format == .csv {
            response.headers.append(("Content-Disposition", "attachment; filename=\"\(layout.name).csv\""))
        }
        if rows.hasMore, let last = rows.rows.last {
            let kept = query.fields.filter { !ListPlace.fields.contains($0.name) }
                .map { (name: $0.name, value: $0.value) }
            let next = WebLink(["entity", "\(entity).\(format.rawValue)"], query: kept + list.following(last))
            response.headers.append(("Link", "<\(next.text)>; rel=\"next\""))
        }
        return response
    }
}
