internal import BridgeJSON
internal import Inference

/// The parameters of a request that bound a span of time.
///
/// Its `start` and `end` are not offsets or positions in a listing.
struct TimeWindow {
    private let names: Set<String>

    private static let begins: Set<String> = [
        "start", "from", "after", "before", "since", "begin", "sinceid", "maxid", "startat", "startfrom",
    ]
    private static let ends: Set<String> = [
        "end", "stop", "until", "to", "till", "finish", "endtime", "enddate", "endat", "timeto", "dateto",
    ]

    /// - Parameter query: The parameters with their values, or an empty value if unknown.
    init(_ query: [(name: String, value: String)]) {
        let hasEnd = query.contains { Self.ends.contains(Self.plain($0.name)) }
        names = Set(
            query.filter { name, value in
                Self.isTime(value) || hasEnd && Self.begins.contains(Self.plain(name))
            }.map(\.name))
    }

    /// - Parameter parameters: The parameters of a document, which declares their types.
    init(_ parameters: [QueryParameter]) {
        let hasEnd = parameters.contains { Self.ends.contains(Self.plain($0.name)) }
        names = Set(
            parameters.filter { parameter in
                let isTime = ["date", "date-time", "datetime", "timestamp", "unix-time", "date-time-local"].contains(
                    parameter.shape.format?.lowercased() ?? "")
                return isTime || hasEnd && Self.begins.contains(Self.plain(parameter.name))
            }.map(\.name))
    }

    /// Whether a parameter belongs to the time window.
    func contains(_ name: String) -> Bool { names.contains(name) }

    private static func plain(_ name: String) -> String {
        name.lowercased().filter { $0 != "_" && $0 != "-" && $0 != "$" }
    }

    /// Whether a value is a date, a time, or a Unix time of this century in seconds or smaller units.
    private static func isTime(_ value: String) -> Bool {
        switch TextFormat.of(value) {
        case .timestamp, .date: true
        case .integer: Int64(value).map { $0 >= 946_684_800 } ?? false
        case .decimal, .uuid, .url, nil: false
        }
    }
}
