internal import BridgeJSON
internal import BridgeKit

/// The column names of records that are arrays, such as `[1, "Paris"]`, with the names given once.
enum RowColumns: Sendable {
    /// The path of the names in the reply: a list of texts, or of objects that have a name.
    case path(JSONPath)
    case names([String])

    /// - Returns: nil if the section has no `columns`.
    init?(_ section: BridgeOptions) throws {
        guard section.has("columns") else { return nil }
        if let text = section.string("columns") {
            guard text.hasPrefix("$") else {
                throw BridgeError(
                    .configuration, "columns is \"\(text)\"",
                    remedy: "give the path of the columns' names, such as $.columns, or a list of names")
            }
            self = .path(try JSONPath(text, option: "columns"))
        } else {
            self = .names(section.strings("columns"))
        }
    }
}
