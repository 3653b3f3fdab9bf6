internal import Mapping

/// Cells for the values of rows, valid during a call.
enum SampleCells {
    /// Calls `body` with the cells of each row; nil stands for an absent cell.
    static func with(
        _ rows: [[StoredValue?]], _ body: ([UnsafeBufferPointer<Cell>]) throws -> Void
    ) throws {
        var texts: [UnsafeMutableRawBufferPointer] = []
        var buffers: [UnsafeMutableBufferPointer<Cell>] = []
        defer {
            for text in texts { text.deallocate() }
            for buffer in buffers { buffer.deallocate() }
        }
        func bytes(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 1)
            copy.copyBytes(from: bytes)
            texts.append(copy)
            return UnsafeRawBufferPointer(rebasing: copy[..<bytes.count])
        }
        for row in rows {
            let buffer = UnsafeMutableBufferPointer<Cell>.allocate(capacity: max(1, row.count))
            buffers.append(buffer)
            for (index, value) in row.enumerated() {
                let cell: Cell =
                    switch value {
                    case nil: .absent
                    case .null: .null
                    case .integer(let value): .integer(value)
                    case .boolean(let value): .boolean(value)
                    case .real(let value): .real(value)
                    case .text(let value): .text(bytes(Array(value.utf8)))
                    case .decimal(let value): .decimal(bytes(Array(value.utf8)))
                    case .timestamp(let value): .timestamp(bytes(Array(value.utf8)))
                    case .date(let value): .date(bytes(Array(value.utf8)))
                    case .json(let value): .json(bytes(Array(value.utf8)))
                    case .url(let value): .url(bytes(Array(value.utf8)))
                    case .uuid(let value): .uuid(bytes(Array(value.utf8)))
                    case .bytes(let value): .bytes(bytes(value))
                    }
                buffer.initializeElement(at: index, to: cell)
            }
        }
        try body(
            zip(buffers, rows).map { UnsafeBufferPointer(rebasing: UnsafeBufferPointer($0)[..<$1.count]) })
    }
}
