import BridgeKit
import RecordBatch

@testable import SOAPBridge

/// A value of a config in a test.
enum ConfigValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByNilLiteral
{
    case text(String)
    case integer(Int)
    case object([(String, ConfigValue)])
    case list([ConfigValue])
    case bool(Bool)
    case null

    init(stringLiteral value: String) { self = .text(value) }
    init(integerLiteral value: Int) { self = .integer(value) }
    init(dictionaryLiteral elements: (String, ConfigValue)...) { self = .object(elements) }
    init(nilLiteral: ()) { self = .null }

    /// As a bridge gets it.
    var options: BridgeOptions {
        guard case .object(let members) = self else { return .empty }
        return BridgeOptions { writer in Self.write(members, to: writer) }
    }

    /// With further members.
    func adding(_ more: ConfigValue) -> ConfigValue {
        guard case .object(let members) = self, case .object(let others) = more else { return self }
        return .object(members.filter { member in !others.contains { $0.0 == member.0 } } + others)
    }

    private static func write(_ members: [(String, ConfigValue)], to writer: RecordBatchWriter) {
        for (name, value) in members {
            writer.key(name)
            value.write(to: writer)
        }
    }

    private func write(to writer: RecordBatchWriter) {
        switch self {
        case .text(let text): writer.text(text)
        case .integer(let integer): writer.int64(Int64(integer))
        case .bool(let bool): writer.bool(bool)
        case .object(let inner): writer.object { Self.write(inner, to: writer) }
        case .list(let elements): writer.array { for element in elements { element.write(to: writer) } }
        case .null: writer.null()
        }
    }
}

/// What a scan brought.
struct Scan {
    var records: [String] = []
    var pages: [Page] = []
    var maxBatchSize = 0

    /// Scans to the end, or to `pages` page ends.
    static func run(_ source: any RecordSource, pages limit: Int = .max) throws -> Scan {
        var scan = Scan()
        let writer = RecordBatchWriter()
        var ends = 0
        while ends < limit {
            let page = try source.next(into: writer)
            let batch = try writer.finish()
            scan.records += (0..<batch.count).map { batch[$0].json }
            scan.maxBatchSize = max(scan.maxBatchSize, batch.count)
            scan.pages.append(page)
            if page.isPageEnd { ends += 1 }
            if page.isEnd { break }
        }
        return scan
    }

    static func run(
        _ options: ConfigValue, _ section: ConfigValue, cursor: String? = nil, pages: Int = .max
    ) throws -> Scan {
        let bridge = try SOAPBridge(options: options.options, context: BridgeContext())
        let source = try bridge.fetch(FetchRequest(entity: "Product", section: section.options, cursor: cursor))
        return try run(source, pages: pages)
    }
}
