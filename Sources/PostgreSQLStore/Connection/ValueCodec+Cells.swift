internal import Glibc
internal import Mapping
internal import TextFormats

/// The values of a page without values in between: their comparison with those that the server sent, and their bytes.
extension ValueCodec {
    /// Returns whether the server has sent exactly the value of a cell; false also where only decoding would tell.
    func isSame(_ cell: Cell, _ bytes: UnsafeRawBufferPointer?) -> Bool {
        guard let bytes else { return cell.kind == .null }
        switch (sqlType, cell.storage) {
        case (.bigint, .integer): return Int64(bigEndian: bytes) == cell.integer
        case (.boolean, .integer): return cell.integer == (bytes.first == 1 ? 1 : 0)
        case (.double, .real): return UInt64(bigEndian: bytes).map { Double(bitPattern: $0) } == cell.real
        case (.text, .text), (.numeric, .text), (.bytea, .bytes): return Self.isEqual(cell.rawBytes, bytes)
        case (.timestamptz, .text):
            guard let time = Int64(bigEndian: bytes) else { return false }
            let (microseconds, overflow) = time.addingReportingOverflow(Self.epoch)
            return !overflow && cell.rawBytes.count == Timestamp.textLength && Self.isTime(cell.rawBytes, microseconds)
        case (.date, .text):
            guard let days = Int32(bigEndian: bytes), cell.rawBytes.count == 10 else { return false }
            return Self.isTime(cell.rawBytes, (Int64(days) + Self.epochDays) * 86_400_000_000)
        default: return false
        }
    }

    private static func isEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count else { return false }
        guard let start = left.baseAddress, let other = right.baseAddress else { return left.isEmpty }
        return memcmp(start, other, left.count) == 0
    }

    /// Returns whether a text is that of a time, or its beginning.
    private static func isTime(_ text: UnsafeRawBufferPointer, _ microseconds: Int64) -> Bool {
        guard Timestamp.range.contains(microseconds) else { return false }
        return withUnsafeTemporaryAllocation(byteCount: Timestamp.textLength, alignment: 1) { written in
            Timestamp.write(microseconds: microseconds, to: written)
            return isEqual(text, UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(written)[..<text.count]))
        }
    }

    // MARK: - Bytes

    /// Appends the bytes of a cell to a column of new rows, those of ``encode(_:)``; an absent value is null.
    ///
    /// - Returns: Whether the value fits the column; otherwise nothing is appended.
    func append(_ cell: Cell, to column: ArrayBuilder) -> Bool {
        switch (sqlType, cell.storage) {
        case (_, .absent), (_, .null): column.appendNull()
        case (.bigint, .integer): column.append(cell.integer)
        case (.boolean, .integer) where cell.integer == 0 || cell.integer == 1:
            column.append(UInt8(truncatingIfNeeded: cell.integer))
        case (.double, .real) where !cell.real.isNaN:
            // Zero has no sign in a database.
            column.append((cell.real == 0 ? 0 : cell.real).bitPattern)
        case (.text, .text):
            let text = cell.rawBytes
            guard let start = text.baseAddress, !text.isEmpty else {
                column.append(text)
                return true
            }
            guard memchr(start, 0, text.count) == nil else { return false }
            column.append(text)
        case (.timestamptz, .text):
            guard let microseconds = Timestamp.microseconds(utf8: cell.rawBytes) else { return false }
            column.append(microseconds - Self.epoch)
        case (.date, .text):
            guard let days = Timestamp.days(utf8: cell.rawBytes) else { return false }
            column.append(Int32(days - Self.epochDays))
        case (.bytea, .bytes): column.append(cell.rawBytes)
        default:
            // The rest is rare, or misses its column.
            guard let value = cell.value, let bytes = try? encode(value.typed(as: type)) else { return false }
            bytes.withUnsafeBytes { column.append($0) }
        }
        return true
    }
}
