internal import BridgeJSON
internal import BridgeKit
internal import BridgePaging
internal import RowFormats

/// How the rows of a text become records: the section's `format`, with the dialect of CSV.
struct TableRule: Sendable {
    let format: RowFormat
    /// The encoding of the text; nil if the reply, or the text itself, says it.
    let encoding: String?

    /// Lines of JSON in UTF-8.
    static let lines = TableRule(format: .ndjson, encoding: nil)

    private init(format: RowFormat, encoding: String?) {
        self.format = format
        self.encoding = encoding
    }

    /// - Parameters:
    ///   - isExport: Whether the records come from files, which may be JSON, too.
    /// - Returns: nil if the records are in JSON replies.
    /// - Throws: ``BridgeError`` for members that have no meaning in the section.
    init?(_ section: BridgeOptions, _ format: RESTSection.Format, isExport: Bool) throws {
        if format != .csv, let name = RowFormat.csvNames.first(where: section.has) {
            throw BridgeError(
                .configuration, "\(name) is for rows of CSV", remedy: "set format: csv, or remove \(name)")
        }
        let isText = format == .csv || isExport && [.json, .ndjson].contains(format)
        if !isText, section.has("encoding") {
            throw BridgeError(
                .configuration, "encoding has no effect in format \(format.rawValue)",
                remedy: "remove it: JSON is UTF-8, and an XML document says its encoding itself")
        }
        if format == .csv, section.has("records") {
            throw BridgeError(
                .configuration, "records has no meaning in format csv", remedy: "remove it: each row is a record")
        }
        guard isExport || format == .csv || format == .xml else { return nil }
        guard format != .automatic else {
            throw BridgeError(
                .configuration, "format is missing: the form of the export's files",
                remedy: "set it to csv, ndjson, json or xml")
        }
        encoding = section.string("encoding")
        _ = try TextDecoder(encoding: encoding)
        self.format = try RowFormat(format.rawValue, section, captures: [])
    }

    /// The name of the format in messages.
    var name: String {
        switch format {
        case .csv: "CSV"
        case .ndjson: "lines of JSON"
        case .json: "JSON"
        case .xml: "XML"
        }
    }

    /// The value of Accept.
    var accept: String {
        switch format {
        case .csv: "text/csv, */*;q=0.1"
        case .xml: "application/xml, text/xml;q=0.9, */*;q=0.1"
        case .ndjson, .json: "*/*"
        }
    }

    /// Whether rows are not JSON, so that a reply of JSON is something else.
    var isForeign: Bool {
        switch format {
        case .csv, .xml: true
        case .ndjson, .json: false
        }
    }

    /// Whether the text shows by itself where it ends.
    var endsItself: Bool {
        switch format {
        case .csv, .ndjson: false
        case .json, .xml: true
        }
    }

    /// Refuses members that are about replies of JSON.
    func check(_ section: BridgeOptions, _ paging: PagingRule, _ preset: Preset?) throws {
        let name = section.string("format") ?? ""
        if let preset, section.has("preset") || section.has("graphql") {
            throw BridgeError(
                .configuration, "preset \(preset.rawValue) cannot be combined with format \(name)",
                remedy: "remove one of them")
        }
        if section.has("columns") {
            throw BridgeError(
                .configuration, "columns cannot be combined with format \(name)",
                remedy: "remove it; the names of a CSV without a header row are header: [NAME, ...]")
        }
        if case .keyset = paging.style {
            throw BridgeError(
                .configuration, "paging.style \(paging.name) cannot be combined with format \(name)",
                remedy: "use page, offset, or a link or cursor in the reply's header fields")
        }
        if let path = paging.paths.first {
            throw BridgeError(
                .configuration, "paging reads \(path) of a JSON reply, and format is \(name)",
                remedy: "name a header field, or use page or offset")
        }
    }
}
