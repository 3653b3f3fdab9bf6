/// Counts the bytes that a packed file unpacks to.
final class UnpackedStream: ByteStream {
    private let source: any ByteStream
    private let budget: UnpackingBudget

    init(_ source: any ByteStream, _ budget: UnpackingBudget) {
        self.source = source
        self.budget = budget
    }

    func read() throws -> [UInt8]? {
        guard let piece = try source.read() else { return nil }
        try budget.take(piece.count)
        return piece
    }
}

/// The remaining bytes that a packed file may unpack to, over all members of an archive: members may share their data.
final class UnpackingBudget {
    private let most: Int64
    private var total: Int64 = 0

    init(most: Int64) { self.most = most }

    func take(_ count: Int) throws {
        total += Int64(count)
        guard total <= most else {
            throw FileFault(
                reason: "unpacks to more than \(RowLimits.words(Int(most)))",
                remedy: "unpack it, or raise max_body_bytes")
        }
    }
}
