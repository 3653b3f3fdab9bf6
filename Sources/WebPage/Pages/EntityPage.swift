internal import Mapping
internal import Model
internal import StoreContract
internal import WebServer

/// The rows of an entity: filtered, sorted, and a page at a time.
struct EntityPage {
    private let context: PageContext
    private let list: EntityList
    private let content: Content
    private let overview: DatabaseOverview

    /// The number of rows up to which all columns are offered to sort by; in larger tables, only those with an index.
    private static let sortableRows = 100_000

    private struct Content: Sendable {
        var rows: EntityList.Rows
        var labels: RowLabels
        var stubs: Set<[StoredValue]>
        var count: Int?
    }

    static func make(_ context: PageContext, entity: String, _ query: FormFields) async throws -> HTMLPage {
        let list = try EntityList(query, of: try context.layout(entity), isExport: false)
        let isCounted = query["count"] == "1"
        let model = context.model
        let content = try await context.readers.read { store in
            let rows = try list.rows(in: store)
            return Content(
                rows: rows, labels: try RowLabels(of: rows.rows, list.layout, model, in: store),
                stubs: try store.stubs(of: list.layout.index, among: rows.rows.map(\.key)),
                count: isCounted ? try store.count(of: list.query) : nil)
        }
        let overview = try await context.kept.now()
        return EntityPage(context: context, list: list, content: content, overview: overview).page
    }

    private var layout: EntityLayout { list.layout }

    private var status: EntityStatus? { overview.status(of: layout.name) }

    private var page: HTMLPage {
        HTMLPage(layout.name) {
            HTML("p") {
                if let status {
                    "\(NumberText.count(status.rows, "row", "rows"))"
                    if overview.isCounting { " (being counted again)" }
                    if status.stubs > 0 { ", \(NumberText.count(status.stubs, "stub", "stubs"))" }
                    if status.quarantined > 0 {
                        ", "
                        PagePart.link(
                            WebLink(["decide"], query: [("entity", layout.name)], fragment: "quarantine"),
                            "\(NumberText.grouped(status.quarantined)) in quarantine")
                    }
                    ". "
                }
                "As "
                PagePart.link(WebLink(["entity", layout.name + ".json"], query: address()), "JSON")
                " or "
                PagePart.link(WebLink(["entity", layout.name + ".csv"], query: address()), "CSV")
                ". "
                PagePart.link(WebLink(["runs"], query: [("entity", layout.name)]), "Rows over time")
                if context.mayChange, let entity = context.model.model.entity(named: layout.name),
                    context.model.model.isWritable(entity)
                {
                    " "
                    PagePart.link(WebLink("new", layout.name), "New \(layout.name)")
                }
            }
            filter
            if content.rows.hasLostPlace {
                PagePart.notice(.warn) {
                    HTML("p") { "The row before this page is gone or has changed, so these are the first rows." }
                }
            }
            if content.rows.rows.isEmpty { PagePart.quiet("No row meets the conditions.") } else { table }
            paging
        }
    }

    // MARK: Filter

    private var filter: HTML {
        .joined([
            HTML("form", .method("get"), .action(WebLink("entity", layout.name)), .class("row"), .label("Filter")) {
                for condition in list.conditions { PageContext.hidden("where", condition) }
                if let sort = list.sort { PageContext.hidden("sort", Self.text(sort)) }
                HTML("label", .for("field")) { "Only rows whose" }
                HTML("select", .id("field"), .name("field")) {
                    for field in layout.columns { HTML("option", .value(field.name)) { field.name } }
                }
                HTML("select", .name("is"), .label("comparison")) {
                    for (comparison, words) in Self.comparisons {
                        HTML("option", .value(comparison.rawValue)) { words }
                    }
                }
                HTML(
                    void: "input", .type("text"), .name("value"), .label("value"), .class("grow"),
                    .placeholder("a value; % matches any text with \"like\""))
                HTML("button", .type("submit")) { "Filter" }
            },
            chosen,
        ])
    }

    private static let comparisons: [(Comparison, String)] = [
        (.equal, "="), (.notEqual, "≠"), (.less, "<"), (.atMost, "≤"), (.greater, ">"), (.atLeast, "≥"),
        (.like, "like"),
    ]

    /// The conditions in effect, each with a link that removes it.
    private var chosen: HTML {
        guard !list.conditions.isEmpty else { return .empty }
        return HTML("p") {
            "Conditions: "
            for (index, condition) in list.conditions.enumerated() {
                HTML("code") { condition }
                " ("
                PagePart.link(WebLink(["entity", layout.name], query: address(without: index)), "remove")
                ") "
            }
            if let count = content.count {
                "They match \(NumberText.count(count, "row", "rows"))."
            } else {
                PagePart.link(WebLink(["entity", layout.name], query: address() + [("count", "1")]), "Count the rows")
            }
        }
    }

    /// Returns the query of the list's address, without the place after which the page starts.
    private func address(without removed: Int? = nil, sort: RowQuery.Order? = nil) -> [(name: String, value: String)] {
        var query = list.conditions.enumerated().filter { $0.offset != removed }.map {
            (name: "where", value: $0.element)
        }
        if let sort = sort ?? list.sort { query.append(("sort", Self.text(sort))) }
        if list.limit != 50 { query.append(("limit", String(list.limit))) }
        return query
    }

    private static func text(_ order: RowQuery.Order) -> String { (order.isDescending ? "-" : "") + order.field }

    // MARK: Rows

    private var table: HTML {
        HTML("div", .class("scroll"), .role("region"), .label("Rows of \(layout.name)"), .focusable) {
            HTML("table") {
                HTML("thead") {
                    HTML("tr") {
                        if layout.key.isEmpty { HTML("th", .scope("col")) { "row" } }
                        for field in layout.columns { head(field) }
                    }
                }
                HTML("tbody") { for row in content.rows.rows { line(row) } }
            }
        }
    }

    private func head(_ field: EntityLayout.Field) -> HTML {
        let isChosen = list.sort?.field == field.name
        let isDescending = isChosen && list.sort?.isDescending == true
        let next = RowQuery.Order(field.name, isDescending: isChosen && !isDescending)
        guard isChosen || isSortable(field) else {
            return HTML(
                "th", .scope("col"), ValueView.isNumber(field.type) ? .class("number") : nil,
                .title("Sorting by \(field.name), which has no index, would read all rows.")
            ) { field.name }
        }
        return HTML("th", .scope("col"), ValueView.isNumber(field.type) ? .class("number") : nil) {
            HTML(
                "a", .href(WebLink(["entity", layout.name], query: address(sort: next))),
                .title("Sort by \(field.name)")
            ) { field.name }
            if isChosen { isDescending ? " ↓" : " ↑" }
        }
    }

    /// Whether a page in the order of a column is fast: bmo gives keys and references an index.
    private func isSortable(_ field: EntityLayout.Field) -> Bool {
        guard status.map({ $0.rows + $0.stubs > Self.sortableRows }) ?? false else { return true }
        return layout.keyFields.first?.name == field.name
            || layout.toOne.contains { layout.fields[$0.firstField].name == field.name }
    }

    private func line(_ row: EntityRow) -> HTML {
        HTML("tr") {
            if layout.key.isEmpty { HTML("td") { PagePart.object(layout.name, row.key) } }
            for (field, value) in zip(layout.columns, row.values) {
                HTML("td", ValueView.isNumber(field.type) ? .class("number") : nil) { cell(field, value, row) }
            }
        }
    }

    private func cell(_ field: EntityLayout.Field, _ value: StoredValue, _ row: EntityRow) -> HTML {
        if let relationship = field.relationship {
            let one = layout.toOne[relationship]
            guard let key = RowLabels.reference(one, in: row.values, layout) else {
                return ValueView.value(value, field.type)
            }
            let label = content.labels.label(one.target, key).map { "\($0) (\(ValueText.key(key)))" }
            return PagePart.object(context.model.entities[one.target].name, key, label: label)
        }
        guard layout.keyFields.first?.name == field.name else { return ValueView.value(value, field.type) }
        return .joined([
            PagePart.object(layout.name, row.key, label: ValueText.typed(value, field.type)),
            content.stubs.contains(row.key)
                ? HTML("span", .class("quiet"), .title("Others refer to it, but only its key is known.")) { " stub" }
                : .empty,
        ])
    }

    private var paging: HTML {
        HTML("nav", .class("row"), .label("Pages of rows")) {
            if !list.place.key.isEmpty {
                PagePart.link(WebLink(["entity", layout.name], query: address()), "First rows")
            }
            if content.rows.hasMore, let last = content.rows.rows.last {
                let next = WebLink(["entity", layout.name], query: address() + list.following(last))
                HTML("a", .rel("next"), .href(next)) { "Next \(list.limit) rows" }
            }
        }
    }
}
