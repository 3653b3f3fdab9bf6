/// Extracts the data from a chunked body (RFC 9112, section 7.1), which may be split anywhere.
struct ChunkScanner {
    private enum State {
        /// In the line with a chunk's size; the value so far.
        case size(Int, isOver: Bool)
        case data(left: Int)
        /// In the line end after the data.
        case end
        /// After the last chunk.
        case over
    }

    private var state = State.size(0, isOver: false)

    /// Removes the next piece of data from the bytes and returns it; nil when they hold no more.
    mutating func next(_ bytes: inout Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer>? {
        while let byte = bytes.first {
            switch state {
            case .data(let left):
                let data = bytes.prefix(left)
                bytes = bytes.dropFirst(data.count)
                state = data.count < left ? .data(left: left - data.count) : .end
                return data
            case .size(let size, let isOver):
                bytes = bytes.dropFirst()
                if byte == UInt8(ascii: "\n") {
                    state = size == 0 ? .over : .data(left: size)
                } else if !isOver, let digit = Character(UnicodeScalar(byte)).hexDigitValue, size < Int.max >> 8 {
                    state = .size(size << 4 | digit, isOver: false)
                } else {
                    // The rest of the line is an extension.
                    state = .size(size, isOver: true)
                }
            case .end:
                bytes = bytes.dropFirst()
                if byte == UInt8(ascii: "\n") { state = .size(0, isOver: false) }
            case .over: bytes = bytes.dropFirst(bytes.count)
            }
        }
        return nil
    }
}
