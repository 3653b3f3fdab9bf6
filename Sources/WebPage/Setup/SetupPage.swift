internal import WebServer

/// The pages of a first start.
enum SetupPage {
    /// Returns the form.
    ///
    /// - Parameters:
    ///   - file: The file that is written.
    ///   - token: The session's form token.
    ///   - sent: The fields of the form that was sent last.
    ///   - fault: Why it was refused.
    static func form(file: String, token: String, _ sent: FormFields?, fault: String?) -> HTMLPage {
        HTMLPage("Set up") {
            if let fault {
                PagePart.notice(.bad) { for line in fault.split(separator: "\n") { HTML("p") { String(line) } } }
            }
            HTML("p") {
                "There is no configuration "
                HTML("code") { file }
                " yet. bmo examines an API, shows the configuration that it proposes, and writes it if you agree."
            }
            HTML("form", .method("post"), .action(WebLink("setup"))) {
                PageContext.hidden("token", token)
                HTML("div", .class("fields")) {
                    HTML("label", .for("kind")) { "What is at the address" }
                    HTML("select", .id("kind"), .name("kind")) {
                        for kind in SetupSource.Kind.allCases {
                            HTML(
                                "option", .value(kind.rawValue), sent?["kind"] == kind.rawValue ? .selected : nil
                            ) { kind.words }
                        }
                    }
                    HTML("label", .for("url")) { "Address" }
                    HTML(
                        void: "input", .type("text"), .id("url"), .name("url"), .value(sent?["url"] ?? ""),
                        .placeholder("https://…"), .autocomplete("off"), .required)
                }
                HTML("button", .type("submit"), .class("main")) { "Examine" }
            }
            PagePart.quiet("This reads at most a document, or a page of a listing. Nothing is written yet.")
            HTML("p", .class("quiet")) {
                "An API that needs credentials, and a document in a local file: "
                HTML("code") { "bmo introspect" }
                ". An empty configuration: "
                HTML("code") { "bmo init" }
                ". Then start "
                HTML("code") { "bmo serve" }
                " again."
            }
            signOut(token)
        }
    }

    /// Returns the page that shows what was found.
    static func shows(_ finding: SetupFinding, file: String, token: String) -> HTMLPage {
        HTMLPage("What bmo found") {
            HTML("p") {
                "At "
                HTML("code") { finding.url }
                ": \(NumberText.count(finding.ready, "entity is", "entities are")) ready to be synced"
                if finding.incomplete > 0 {
                    ", and \(NumberText.count(finding.incomplete, "one is", "are")) commented out, with what is missing"
                }
                "."
            }
            PagePart.notice(.warn) {
                HTML("p") {
                    "Entities, keys, types, relationships and paging are guesses. The comment behind each says how sure "
                        + "bmo is, and why. Writing to the API is commented out."
                }
            }
            HTML("div", .class("row")) {
                if finding.ready > 0 {
                    HTML("form", .method("post"), .action(WebLink("setup", "write")), .class("inline")) {
                        PageContext.hidden("token", token)
                        PageContext.hidden("finding", finding.id)
                        HTML("button", .type("submit"), .class("main")) { "Write \(file)" }
                    }
                }
                PagePart.link(WebLink(), "Examine something else")
            }
            HTML("pre", .focusable, .role("region"), .label("The configuration")) { finding.text }
        }
    }

    private static func signOut(_ token: String) -> HTML {
        HTML("form", .method("post"), .action(WebLink("logout"))) {
            PageContext.hidden("token", token)
            HTML("button", .type("submit")) { "Sign out" }
        }
    }
}
