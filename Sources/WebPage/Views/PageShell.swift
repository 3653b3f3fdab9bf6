internal import StoreContract
internal import TextFormats

/// The frame of every page: head, navigation, and the notice of the last action.
enum PageShell {
    private static let places: [(path: [String], name: String)] = [
        ([], "Overview"), (["decide"], "To decide"), (["runs"], "Runs"), (["plan"], "Plan"), (["model"], "Model"),
        (["config"], "Configuration"),
    ]

    /// Returns the document of a page.
    ///
    /// - Parameter path: The path of the request, which the navigation marks.
    static func document(_ page: HTMLPage, path: [String], notice: Notice?, _ context: PageContext?) -> HTML {
        .document(
            HTML("html", .lang("en")) {
                HTML("head") {
                    HTML(void: "meta", .utf8)
                    HTML(void: "meta", .name("viewport"), .content("width=device-width, initial-scale=1"))
                    if let seconds = page.reloadsAfter {
                        HTML(void: "meta", .httpEquiv("refresh"), .content(String(seconds)))
                    }
                    HTML("title") { "\(page.title) - bmo" }
                    HTML(void: "link", .rel("stylesheet"), .href(WebLink("style.css")))
                    HTML(void: "link", .rel("icon"), .href(WebLink("icon.svg")))
                }
                HTML("body") {
                    HTML("a", .class("skip"), .href(WebLink([], fragment: "content"))) { "Skip to the content" }
                    header(path, context)
                    HTML("main", .id("content")) {
                        if let notice { PagePart.notice(notice.kind) { HTML("p") { notice.text } } }
                        HTML("h1") { page.title }
                        page.content
                    }
                    HTML("footer") {
                        "bmo \(ProgramVersion.text), \(ValueText.time(Clock.now())) UTC"
                        if context?.isReadOnly == true { ", read-only" }
                    }
                }
            })
    }

    private static func header(_ path: [String], _ context: PageContext?) -> HTML {
        HTML("header") {
            HTML("div") {
                HTML("a", .class("home"), .href(WebLink())) { "bmo" }
                if let context {
                    HTML("nav", .label("Pages")) {
                        for place in places {
                            HTML("a", .href(WebLink(place.path)), place.path == path ? .current : nil) { place.name }
                        }
                    }
                    if !context.formToken.isEmpty {
                        context.signOut
                    }
                }
            }
        }
    }
}

extension PageContext {
    /// The button that ends the session; a read-only site has it, too.
    fileprivate var signOut: HTML {
        form(WebLink("logout"), style: "inline") { HTML("button", .type("submit")) { "Sign out" } }
    }
}
