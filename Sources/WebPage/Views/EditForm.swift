internal import Mapping
internal import Model
internal import StoreContract

/// The form that edits an object or creates one.
///
/// For each field, the form sends its value (`v.NAME`), whether it is null (`n.NAME`), and both as they were when the
/// form was made (`w.NAME`, `wn.NAME`). So a field that the user did not change is not part of the edit, and a value
/// that a sync has changed in the meantime is not overwritten. `cr.NAME` says that lines end with CR LF. A drop-down
/// list has no `n.NAME`: its empty text stands for null.
struct EditForm {
    private let context: PageContext
    private let layout: EntityLayout
    private let key: [StoredValue]?
    private let values: [StoredValue]

    /// Creates the form of an existing object.
    init(_ context: PageContext, _ content: ObjectContent, _ values: [StoredValue]) {
        self.context = context
        layout = content.layout
        key = content.key
        self.values = values
    }

    /// Creates the form of a new object.
    init(_ context: PageContext, new layout: EntityLayout) {
        self.context = context
        self.layout = layout
        key = nil
        values = layout.columns.map { _ in .null }
    }

    /// Whether the objects of the entity can be edited at all.
    private var isWritable: Bool {
        !layout.key.isEmpty
            && context.model.model.entity(named: layout.name).map(context.model.model.isWritable) == true
    }

    /// The form; empty if the site is read-only or the entity is not writable.
    var view: HTML {
        guard context.mayChange, isWritable else { return .empty }
        let plan = OutgoingPlan(of: layout.index, in: context.model)
        let fields = zip(layout.columns, values).filter { plan.refusal(of: $0.0.name, isNew: key == nil) == nil }
        let link = key.map { PagePart.object(layout.name, $0) } ?? WebLink("new", layout.name)
        return .joined([
            key == nil ? .empty : HTML("h2") { "Edit" },
            PagePart.quiet(
                "The edit is made here at once, and waits in the outbox until a push sends it to the remote."),
            fields.isEmpty
                ? PagePart.quiet("No column can be edited.")
                : context.form(link) {
                    if key == nil { PageContext.hidden(FormMark.field, FormMark.make()) }
                    HTML("div", .class("fields")) { for (field, value) in fields { row(field, value) } }
                    HTML("div", .class("row")) {
                        HTML("button", .type("submit"), .class("main"), .name("do"), .value("save")) {
                            key == nil ? "Create here" : "Save here"
                        }
                    }
                },
            key == nil
                ? .empty
                : HTML("div", .class("row")) {
                    context.button(
                        "Delete here", link, [("do", "delete"), (SeenState.field, SeenState.of(values))],
                        style: "danger")
                    HTML("span", .class("quiet")) { "A push deletes the object on the remote." }
                },
        ])
    }

    private func row(_ field: EntityLayout.Field, _ value: StoredValue) -> HTML {
        let id = "v.\(field.name)"
        let whole = ValueText.typed(value, field.type)
        let text = whole.replacing("\r\n", with: "\n")
        // A field cannot hold such characters: saving would store the escapes that it shows instead.
        guard HTML.isShownAsIs(text) else {
            return .joined([
                HTML("span") { HTML("code") { field.name } },
                HTML("span", .class("quiet")) { "contains control characters: use `bmo update` to edit it." },
            ])
        }
        return .joined([
            HTML("label", .for(id)) {
                HTML("code") { field.name }
                HTML("small") { hint(field) }
            },
            HTML("div") {
                input(field, id, text)
                if field.type != .boolean {
                    HTML("label") {
                        HTML(
                            void: "input", .type("checkbox"), .name("n.\(field.name)"), .value("1"),
                            value == .null ? .checked : nil)
                        " null"
                    }
                }
                PageContext.hidden("w.\(field.name)", text)
                PageContext.hidden("wn.\(field.name)", value == .null ? "1" : "")
                if text.utf8.count < whole.utf8.count { PageContext.hidden("cr.\(field.name)", "1") }
            },
        ])
    }

    private func hint(_ field: EntityLayout.Field) -> String {
        guard let relationship = field.relationship else { return field.type.rawValue }
        let target = context.model.entities[layout.toOne[relationship].target]
        return "\(field.type.rawValue), the key of \(target.name)"
    }

    private func input(_ field: EntityLayout.Field, _ id: String, _ text: String) -> HTML {
        func input(_ type: String, _ more: HTMLAttribute? = nil) -> HTML {
            HTML(void: "input", .type(type), .id(id), .name(id), .value(text), .autocomplete("off"), more)
        }
        switch field.type {
        case .integer: return input("number", .step("1"))
        case .real: return input("number", .step("any"))
        case .date: return input("date")
        case .url: return input("text", .placeholder("https://…"))
        case .timestamp: return input("text", .placeholder("2026-11-21T10:00:00Z"))
        case .decimal, .uuid, .data: return input("text")
        case .boolean:
            return HTML("select", .id(id), .name(id)) {
                for (choice, words) in [("", "null"), ("true", "true"), ("false", "false")] {
                    HTML("option", .value(choice), choice == text ? .selected : nil) { words }
                }
            }
        case .text, .json:
            let isLong = field.type == .json || text.count > 80 || text.contains("\n")
            // A browser ignores a line end at the beginning of a text area.
            return isLong
                ? HTML("textarea", .id(id), .name(id), .rows(min(12, 3 + text.count / 80)), .dir("auto")) {
                    "\n" + text
                }
                : HTML(
                    void: "input", .type("text"), .id(id), .name(id), .value(text), .autocomplete("off"), .dir("auto"))
        }
    }
}
