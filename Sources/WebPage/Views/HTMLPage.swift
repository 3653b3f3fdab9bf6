internal import BMO
internal import Mapping
internal import StoreContract

/// What all pages need besides their content.
struct PageContext: Sendable {
    let workspace: Workspace
    let readers: StoreReaders
    let kept: KeptOverview
    let activity: Activity
    let live: LiveSnapshot
    /// Whether nothing may be changed: pages then have no forms that change anything.
    let isReadOnly: Bool
    /// The session's form token; empty for a request without a session.
    let formToken: String

    /// Whether the request comes from a session that may change something.
    var mayChange: Bool { !isReadOnly && !formToken.isEmpty }

    var model: CompiledModel { workspace.model }

    /// Returns the layout of an entity.
    ///
    /// - Throws: ``PageFailure`` for an unknown entity.
    func layout(_ entity: String) throws -> EntityLayout {
        guard let index = model.index(of: entity) else {
            throw PageFailure.missing("The configuration has no entity \"\(entity)\".")
        }
        return model.entities[index]
    }

    /// Returns a form that changes something: a button, with hidden fields.
    func button(
        _ words: String, _ link: WebLink, _ fields: [(name: String, value: String)] = [], style: String = "",
        title: String? = nil
    ) -> HTML {
        guard mayChange else { return .empty }
        return form(link, style: "inline") {
            for field in fields { Self.hidden(field.name, field.value) }
            HTML("button", .type("submit"), .class(style), title.map(HTMLAttribute.title)) { words }
        }
    }

    /// Returns a form of the method POST with the session's token.
    func form(_ link: WebLink, style: String = "", @HTMLBuilder content: () -> HTML) -> HTML {
        HTML("form", .method("post"), .action(link), .class(style)) {
            Self.hidden("token", formToken)
            content()
        }
    }

    /// Returns a hidden field.
    static func hidden(_ name: String, _ value: String) -> HTML {
        HTML(void: "input", .type("hidden"), .name(name), .value(value))
    }
}

/// A page: its title and its content.
struct HTMLPage: Sendable {
    let title: String
    /// The seconds after which the browser reloads the page; nil for never.
    var reloadsAfter: Int?
    let content: HTML

    init(_ title: String, reloadsAfter: Int? = nil, @HTMLBuilder content: () -> HTML) {
        self.title = title
        self.reloadsAfter = reloadsAfter
        self.content = content()
    }
}

/// Parts that several pages share.
enum PagePart {
    /// Returns a table that scrolls sideways if it does not fit.
    ///
    /// - Parameter isCards: Whether each row becomes a card on a narrow screen, so that its buttons stay visible.
    static func table(
        _ label: String, _ columns: [(name: String, isNumber: Bool)], _ rows: [[HTML]], isCards: Bool = false
    ) -> HTML {
        HTML("div", .class("scroll"), .role("region"), .label(label), .focusable) {
            HTML("table", isCards ? .class("cards") : nil) {
                HTML("thead") {
                    HTML("tr") {
                        for column in columns {
                            HTML("th", .scope("col"), column.isNumber ? .class("number") : nil) { column.name }
                        }
                    }
                }
                HTML("tbody") {
                    for row in rows {
                        HTML("tr") {
                            for (cell, column) in zip(row, columns) {
                                HTML(
                                    "td", column.isNumber ? .class("number") : nil,
                                    isCards && !column.name.isEmpty ? .heading(column.name) : nil
                                ) { cell }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Returns a table of texts.
    static func table(_ label: String, _ columns: [String], _ rows: [[HTML]], isCards: Bool = false) -> HTML {
        table(label, columns.map { ($0, false) }, rows, isCards: isCards)
    }

    static func notice(_ kind: Notice.Kind, @HTMLBuilder content: () -> HTML) -> HTML {
        HTML("div", .class("notice \(kind.rawValue)"), .role("status")) { content() }
    }

    static func quiet(_ text: String) -> HTML { HTML("p", .class("quiet")) { text } }

    static func link(_ link: WebLink, _ text: String) -> HTML { HTML("a", .href(link)) { text } }

    /// Returns a link to an object.
    static func object(_ entity: String, _ key: [StoredValue], label: String? = nil) -> HTML {
        HTML("a", .href(object(entity, key))) { HTML("bdi") { label ?? ValueText.key(key) } }
    }

    /// Returns the address of an object.
    static func object(_ entity: String, _ key: [StoredValue]) -> WebLink {
        WebLink(["object", entity] + ValueText.parts(of: key))
    }
}
