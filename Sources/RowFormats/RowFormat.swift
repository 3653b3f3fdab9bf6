package import BridgeJSON
package import BridgeKit

/// A format of files whose rows become records.
package enum RowFormat: CustomStringConvertible, Sendable {
    case csv(CSVDialect)
    /// One JSON object per line.
    case ndjson
    /// The elements of a list in a JSON document, at this path; nil detects it.
    case json(JSONPath?)
    /// The local names of the record elements and of the elements around them; empty for the root's children.
    case xml([String])

    /// Reads the options of a format.
    ///
    /// - Parameters:
    ///   - kind: `csv`, `ndjson`, `json` or `xml`.
    ///   - captures: The names of members that each record has besides its columns.
    package init(_ kind: String, _ options: BridgeOptions, captures: [String]) throws {
        self =
            switch kind {
            case "csv": .csv(try CSVDialect(options, captures: captures))
            case "ndjson": .ndjson
            case "json": .json(try options.string("records").map { try JSONPath($0, option: "records") })
            default: .xml((options.string("records") ?? "").split(separator: "/").map(String.init))
            }
    }

    /// The format with all that determines a file's rows.
    package var description: String {
        switch self {
        case .csv(let dialect): "csv \(dialect)"
        case .ndjson: "ndjson"
        case .json(let path): "json \(path?.description ?? "")"
        case .xml(let names): "xml \(names.joined(separator: "/"))"
        }
    }
}
