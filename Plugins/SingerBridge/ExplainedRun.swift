internal import BridgeKit
internal import RecordBatch

/// A description of the run that a scan would start, and of its records' fields for the validation of attributes.
final class ExplainedRun: RecordSource {
    private let tap: Tap
    private let section: TapSection
    private let method: Replication?
    private let stream: TapCatalog.Stream?
    private let state: String?

    init(_ tap: Tap, _ section: TapSection, _ method: Replication?, stream: TapCatalog.Stream?, state: String?) {
        self.tap = tap
        self.section = section
        self.method = method
        self.stream = stream
        self.state = state
    }

    func next(into writer: RecordBatchWriter) throws -> Page {
        // A replay does not need the program.
        let isReplaying = tap.context.exchange?.isReplaying == true
        var words =
            [isReplaying ? tap.options.command[0] : try tap.program()] + tap.options.command.dropFirst() + [
                "--config FILE"
            ]
        if stream != nil { words.append("\(tap.options.catalogFlag) FILE") }
        if state != nil { words.append("--state FILE") }
        let how = method.map { ", \($0.rawValue)" } ?? ""
        writer.object {
            writer.member("request", "\(words.joined(separator: " ")) (stream `\(section.stream)`\(how))")
            writer.member("body", state.map { "state: \($0)" })
        }
        let fields = stream.map { Self.fields(of: $0.schema) } ?? []
        var page = Page(
            isPageEnd: true, isEnd: true, metadata: fields.isEmpty ? [:] : ["fields": fields.joined(separator: "\n")])
        // Records of earlier runs may be missing only because they precede a start date.
        if method != .fullTable { page.skipped = [.everything] }
        return page
    }

    func cancel() {}

    /// Returns the paths in a JSON Schema, with `/` between names and `*` for undescribed content.
    private static func fields(of schema: BridgeOptions, depth: Int = 0) -> [String] {
        guard depth < 8, let properties = schema.object("properties"), !properties.names.isEmpty else { return [] }
        var fields: [String] = schema.bool("additionalProperties") == true ? ["*"] : []
        for name in properties.names {
            let property = properties.object(name) ?? .empty
            let inner = Self.fields(of: property, depth: depth + 1)
            fields.append(name)
            if !inner.isEmpty {
                fields += inner.map { "\(name)/\($0)" }
            } else if !isScalar(property) {
                fields.append("\(name)/*")
            }
        }
        return fields
    }

    private static func isScalar(_ schema: BridgeOptions) -> Bool {
        let types = schema.strings("type")
        return !types.isEmpty && !types.contains("object") && !types.contains("array")
    }
}
