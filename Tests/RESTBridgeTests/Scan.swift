import BridgeKit
import Glibc
import RESTBridge
import RecordBatch
import Testing

/// A member of options or of a section, written as its Swift literal.
indirect enum Literal: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, Sendable
{
    case text(String)
    case integer(Int64)
    case double(Double)
    case bool(Bool)
    case null
    case object([(String, Literal)])
    case array([Literal])

    init(stringLiteral value: String) { self = .text(value) }
    init(integerLiteral value: Int64) { self = .integer(value) }
    init(floatLiteral value: Double) { self = .double(value) }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(dictionaryLiteral elements: (String, Literal)...) { self = .object(elements) }
    init(arrayLiteral elements: Literal...) { self = .array(elements) }

    func write(to writer: RecordBatchWriter) {
        switch self {
        case .text(let value): writer.text(value)
        case .integer(let value): writer.int64(value)
        case .double(let value): writer.double(value)
        case .bool(let value): writer.bool(value)
        case .null: writer.null()
        case .array(let values): writer.array { for value in values { value.write(to: writer) } }
        case .object(let members): writer.object { Self.write(members, to: writer) }
        }
    }

    static func write(_ members: [(String, Literal)], to writer: RecordBatchWriter) {
        for (name, value) in members {
            writer.key(name)
            value.write(to: writer)
        }
    }

    /// As a bridge gets it.
    var options: BridgeOptions {
        guard case .object(let members) = self else { return .empty }
        return BridgeOptions { Self.write(members, to: $0) }
    }
}

/// What a whole scan gave.
struct Scan {
    var pages: [Page] = []
    /// The JSON of each record.
    var records: [String] = []

    var last: Page? { pages.last }
    var warnings: [String] { pages.flatMap(\.warnings) }
    var rejected: [Page.Rejected] { pages.flatMap(\.rejected) }

    /// The `id` of each record.
    var ids: [Int] {
        records.compactMap { record in
            guard let range = record.firstRange(of: "\"id\":") else { return nil }
            return Int(record[range.upperBound...].prefix { $0.isNumber })
        }
    }

    /// Scans to the end, or until a page of `limit`.
    init(_ source: any RecordSource, limit: Int = 1000) throws {
        let writer = RecordBatchWriter()
        while pages.count < limit {
            let page = try source.next(into: writer)
            let batch = try writer.finish()
            records += (0..<batch.count).map { batch[$0].json }
            pages.append(page)
            if page.isEnd { return }
        }
    }
}

func bridge(_ options: Literal) throws -> RESTBridge {
    try RESTBridge(options: options.options, context: BridgeContext())
}

func source(_ bridge: RESTBridge, _ section: Literal, cursor: String? = nil) throws -> any RecordSource {
    try bridge.fetch(FetchRequest(entity: "User", section: section.options, cursor: cursor))
}

/// The error that `body` throws.
func failure(sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void) throws -> BridgeError {
    try #require(throws: BridgeError.self, sourceLocation: sourceLocation, performing: body)
}

/// Asks again and again until `isDone`, twenty seconds at most.
func poll(_ isDone: () throws -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(20)
    while try !isDone() {
        try #require(ContinuousClock.now < deadline)
        usleep(1000)
    }
}
