import BridgeTestSupport
import RecordBatch
import TestSupport
import Testing

@testable import BridgeHost

extension CountingHost {
    func connect(
        _ isolation: PluginListing.Isolation, options: Literal = [:], secrets: [String] = []
    ) async throws -> BridgeConnection {
        try await host.connect(
            to: try await host.plugin(named: "counting"), options: try batch(options), name: "numbers",
            secrets: secrets, isolation: isolation)
    }
}

/// A batch of one object.
func batch(_ object: Literal) throws -> RecordBatch { try Literal.batch([object]) }

func request(
    _ section: Literal = [:], cursor: String? = nil, pageSize: Int? = nil
) throws -> FetchRequest {
    FetchRequest(entity: "Number", section: try batch(section), cursor: cursor, pageSize: pageSize)
}

/// Scans to the end and returns the ids.
func ids(_ stream: RecordStream) async throws -> [Int64] {
    var ids: [Int64] = []
    while let batch = try await stream.next() { ids += batch.ids }
    await stream.close()
    return ids
}

extension FetchedBatch {
    var ids: [Int64] {
        guard let records else { return [] }
        return withExtendedLifetime(records) { (0..<records.count).compactMap { records[$0]["id"]?.integer } }
    }
}

/// The failure that `body` throws.
func failure(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async throws -> BridgeFailure {
    do {
        try await body()
    } catch let failure as BridgeFailure {
        return failure
    }
    Issue.record("nothing was thrown", sourceLocation: sourceLocation)
    throw CancellationError()
}
