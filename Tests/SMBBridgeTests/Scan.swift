import BridgeKit
import RecordBatch
import SMBBridge
import Testing
import TestLiterals

/// What a scan gave: each record as member name to JSON text.
struct Scan {
    var records: [[String: String]] = []
    var pages: [Page] = []

    var warnings: [String] { pages.flatMap(\.warnings) }
    var rejected: [Page.Rejected] { pages.flatMap(\.rejected) }
    var isComplete: Bool { pages.last?.isComplete ?? false }
    var isUnchanged: Bool { pages.last?.isUnchanged ?? false }
    var token: String? { pages.last?.token }
    /// What the scan did not look at, as `field = value`, with dots behind a prefix.
    var skipped: [String] {
        pages.flatMap(\.skipped).map { skipped in
            switch skipped.match {
            case .equals(let value): "\(skipped.field) = \(value)"
            case .prefix(let value): "\(skipped.field) = \(value)..."
            }
        }
    }

    /// The values of one member, in the records' order.
    func values(_ name: String) -> [String] { records.map { $0[name] ?? "(none)" } }

    /// Scans to the end, or until `limit` pages came.
    init(_ source: any RecordSource, limit: Int = .max) throws {
        let writer = RecordBatchWriter()
        while pages.count < limit {
            let page = try source.next(into: writer)
            let batch = try writer.finish()
            for index in 0..<batch.count {
                records.append(
                    Dictionary(batch[index].members.map { ($0.key, $0.value.json) }, uniquingKeysWith: { $1 }))
            }
            pages.append(page)
            if page.isEnd { break }
        }
    }
}

extension SMBBridge {
    /// A bridge to a share of a test's server.
    convenience init(
        _ server: SMBServer, share: String = "pw", folder: String = "", _ changes: Literal = [:],
        context: BridgeContext = BridgeContext()
    ) throws {
        let settings: Literal = [
            "url": "smb://\(server.address):\(server.port)/\(share)\(folder)", "user": .text(server.user),
            "password": .text(SMBServer.password), "timeout": 10,
        ]
        try self.init(options: settings.adding(changes).options, context: context)
    }

    func source(
        _ section: Literal, cursor: String? = nil, pageSize: Int? = nil, token: String? = nil
    ) throws -> any RecordSource {
        try fetch(
            FetchRequest(
                entity: "Document", section: BridgeOptions(section), cursor: cursor, pageSize: pageSize, token: token))
    }

    func scan(
        _ section: Literal, cursor: String? = nil, pageSize: Int? = nil, token: String? = nil
    ) throws -> Scan {
        try Scan(source(section, cursor: cursor, pageSize: pageSize, token: token))
    }
}

/// All tests that talk to the shared server: one after another, as libsmbclient has one context at work at a time.
@Suite(.serialized, .timeLimit(.minutes(2))) enum AgainstRealServer {}
