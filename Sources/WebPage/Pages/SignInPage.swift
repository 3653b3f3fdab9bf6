/// The page for a browser without a session.
enum SignInPage {
    /// - Parameters:
    ///   - hasPassword: Whether a password begins a session.
    ///   - fault: Why the last attempt failed.
    static func make(hasPassword: Bool, fault: String?) -> HTMLPage {
        HTMLPage("Sign in") {
            if let fault { PagePart.notice(.bad) { HTML("p") { fault } } }
            if hasPassword {
                HTML("form", .method("post"), .action(WebLink("login"))) {
                    HTML("div", .class("fields")) {
                        HTML("label", .for("password")) { "Password" }
                        HTML(
                            void: "input", .type("password"), .id("password"), .name("password"),
                            .autocomplete("current-password"), .required)
                    }
                    HTML("button", .type("submit"), .class("main")) { "Sign in" }
                }
            } else {
                HTML("p") {
                    "Open the address that "
                    HTML("code") { "bmo serve" }
                    " printed last. Each address starts one session; when it is used, the next one is printed."
                }
            }
        }
    }
}
