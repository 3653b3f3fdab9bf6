/// The body of a reply in pieces of one size, however its bytes arrive.
///
/// The same body has the same pieces each time, and so what a reader makes of them has the same batches, which the host
/// recognises. Only a server that takes longer than a second for a piece gets it read as far as it has arrived.
///
/// ```swift
/// var pieces = EvenPieces(of: exchange, size: 64 << 10)
/// while let piece = try pieces.next() { parse(piece) }
/// ```
public struct EvenPieces {
    private let exchange: HTTPExchange
    private let size: Int
    /// What has arrived, and was not returned.
    private var rest: ArraySlice<UInt8>
    /// How the body has ended, or broken off; nil as long as more bytes may arrive.
    private var ending: Result<Void, any Error>?

    /// How long to wait for the rest of a piece.
    private static let patience = Duration.seconds(1)

    /// - Parameters:
    ///   - exchange: The exchange; nothing else reads its body.
    ///   - start: What was read of the body already, with which the first piece begins.
    ///   - size: The number of bytes of each piece but the last, at least 1.
    public init(of exchange: HTTPExchange, after start: [UInt8] = [], size: Int) {
        self.exchange = exchange
        self.size = size
        rest = start[...]
    }

    /// Returns the next piece; nil at the end of the body.
    ///
    /// - Throws: What ``HTTPExchange/nextChunk()`` throws, after the bytes that had arrived by then.
    public mutating func next() throws -> ArraySlice<UInt8>? {
        let end = ContinuousClock.now + Self.patience
        while rest.count < size, ending == nil {
            let left = end - .now
            guard rest.isEmpty || left > .zero else { break }
            do {
                if let chunk = try exchange.nextChunk(within: rest.isEmpty ? nil : left / .seconds(1)) {
                    rest += chunk
                } else {
                    ending = .success(())
                }
            } catch {
                ending = .failure(error)
            }
        }
        guard !rest.isEmpty else {
            try ending?.get()
            return nil
        }
        defer { rest = rest.dropFirst(size) }
        return rest.prefix(size)
    }
}
