internal import Mapping
internal import Model
internal import StoreContract

/// Changes of rows with old and new values side by side.
enum ChangeView {
    static func table(_ changes: [RowChange], _ model: CompiledModel) -> HTML {
        guard !changes.isEmpty else { return PagePart.quiet("No row changed.") }
        let rows = changes.flatMap { change -> [[HTML]] in
            let head = [
                PagePart.link(WebLink("entity", change.entity), change.entity),
                change.kind == .loaded ? .empty : PagePart.object(change.entity, change.key),
                HTML(text: change.kind.rawValue),
            ]
            return lines(change, model).enumerated().map { ($0 == 0 ? head : [.empty, .empty, .empty]) + $1 }
        }
        return PagePart.table(
            "Changes", ["entity", "object", "change", "column", "old", "new"], rows, isCards: true)
    }

    /// Returns a change as lines of column, old value and new value; at least one line.
    static func lines(_ change: RowChange, _ model: CompiledModel) -> [[HTML]] {
        if change.kind == .loaded {
            let count = change.count.map { "the first rows; \(NumberText.grouped($0)) now" } ?? "the first rows"
            return [[.empty, .empty, HTML(text: count)]]
        }
        let layout = model.index(of: change.entity).map { model.entities[$0] }
        var lines = change.columns.map { column -> [HTML] in
            let type = layout?.type(of: column.name)
            return [
                HTML("code") { column.name }, side("old", column.old, type), side("new", column.new, type),
            ]
        }
        for link in change.links {
            // The whole lists are clearer than their differences.
            let (old, new) = (link.whole?.old ?? link.old, link.whole?.new ?? link.new)
            lines.append([
                HTML("code") { link.relationship }, HTML("div", .class("old")) { keys(old) },
                HTML("div", .class("new")) { keys(new) },
            ])
        }
        return lines.isEmpty ? [[.empty, .empty, .empty]] : lines
    }

    private static func side(_ style: String, _ value: StoredValue?, _ type: AttributeType?) -> HTML {
        guard let value else { return .empty }
        return HTML("div", .class(style)) { ValueView.value(value, type) }
    }

    private static func keys(_ keys: [[StoredValue]]) -> String {
        "[" + keys.prefix(50).map(ValueText.key).joined(separator: ", ") + (keys.count > 50 ? ", …" : "") + "]"
    }
}
