/// Detects the end of zstd data (RFC 8878, section 3.1) without decoding: each frame and each block states its length.
final class ZstandardScanner: DataScanner {
    private enum State {
        /// Reads the next bytes as a little-endian number.
        case magic, skippedSize, descriptor, block
        /// Bytes to skip, and whether they belong to the frame's last block.
        case frameHead
        case data(isLast: Bool)
        case checksum, skipped
        /// The data are not zstd; libcurl reports it.
        case broken
    }

    private var state = State.magic
    /// The number of bytes that the state still needs.
    private var left = 4
    private var number: UInt32 = 0
    private var filled = 0
    private var hasChecksum = false
    private var hasFrame = false

    /// Whether the scanner is between two frames, after at least one complete frame.
    var isOver: Bool {
        if case .magic = state { return hasFrame && left == 4 }
        return false
    }

    func scan(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty || left == 0 {
            switch state {
            case .broken: return
            case .frameHead, .data, .checksum, .skipped:
                let taken = min(left, rest.count)
                rest = rest.dropFirst(taken)
                left -= taken
            case .magic, .skippedSize, .descriptor, .block:
                while left > 0, let byte = rest.popFirst() {
                    number |= UInt32(byte) << (8 * UInt32(filled))
                    filled += 1
                    left -= 1
                }
            }
            guard left == 0 else { return }
            advance()
        }
    }

    private func advance() {
        let value = number
        switch state {
        case .magic where value == 0xFD2F_B528: enter(.descriptor, 1)
        case .magic where value & 0xFFFF_FFF0 == 0x184D_2A50: enter(.skippedSize, 4)
        case .magic, .broken: enter(.broken, 1)
        case .skippedSize: enter(.skipped, Int(value))
        case .descriptor:
            let isSingle = value & 0x20 != 0
            hasChecksum = value & 4 != 0
            let size = [isSingle ? 1 : 0, 2, 4, 8][Int(value >> 6)]
            enter(.frameHead, (isSingle ? 0 : 1) + [0, 1, 2, 4][Int(value & 3)] + size)
        case .frameHead: enter(.block, 3)
        case .block:
            let isRepeated = value >> 1 & 3 == 1
            enter(.data(isLast: value & 1 != 0), isRepeated ? 1 : Int(value >> 3))
        case .data(isLast: false): enter(.block, 3)
        case .data where hasChecksum: enter(.checksum, 4)
        case .data, .checksum, .skipped:
            if case .skipped = state {} else { hasFrame = true }
            enter(.magic, 4)
        }
    }

    private func enter(_ state: State, _ left: Int) {
        self.state = state
        self.left = left
        number = 0
        filled = 0
    }
}
