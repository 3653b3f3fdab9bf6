/// Why a page cannot be shown or an action cannot be performed, as the user reads it.
package struct PageFailure: Error, Sendable, CustomStringConvertible {
    /// The status code of the response.
    package let status: Int
    /// What failed, and what to do.
    package let description: String

    /// Creates a failure.
    package init(_ status: Int = 400, _ description: String) {
        self.status = status
        self.description = description
    }

    /// The configuration's database does not exist.
    static let noDatabase = PageFailure(404, "There is no database yet. A sync creates it.")

    /// The path does not name an action.
    static let noAction = PageFailure(404, "There is no such action.")

    /// What was requested does not exist.
    static func missing(_ what: String) -> PageFailure { PageFailure(404, what) }
}
