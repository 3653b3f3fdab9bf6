/// An array of one dimension as a parameter, to which elements are appended: the format of `array_recv` in
/// src/backend/utils/adt/arrayfuncs.c.
///
/// It has memory of its own, because appending few bytes to a Swift array costs more than these bytes.
final class ArrayBuilder: @unchecked Sendable {
    // Sendable because it belongs to the tables of one transaction, which one thread uses at a time, and the connection
    // only reads it while that thread waits.
    private static let headerLength = 20

    private var start: UnsafeMutableRawPointer
    private var capacity = 4096
    private var length = headerLength
    private var count = 0

    init(of type: SQLType) {
        start = .allocate(byteCount: capacity, alignment: 8)
        put(1 as Int32, at: 0)
        put(0 as Int32, at: 4)
        put(type.oid, at: 8)
        put(0 as Int32, at: 12)
        put(1 as Int32, at: 16)
    }

    deinit { start.deallocate() }

    /// The bytes of the array, which has at least one element; valid until the next change.
    var bytes: UnsafeRawBufferPointer {
        put(Int32(count), at: 12)
        return UnsafeRawBufferPointer(start: start, count: length)
    }

    /// How far the array is filled.
    struct Mark {
        fileprivate var length: Int
        fileprivate var count: Int
    }

    var mark: Mark { Mark(length: length, count: count) }

    /// Removes what was appended since a mark.
    func removeAll(after mark: Mark) { (length, count) = (mark.length, mark.count) }

    func appendNull() {
        put(1 as Int32, at: 4)
        reserve(4)
        put(-1 as Int32, at: length)
        length += 4
        count += 1
    }

    func append<Number: FixedWidthInteger>(_ number: Number) {
        let size = MemoryLayout<Number>.size
        reserve(4 + size)
        put(Int32(size), at: length)
        put(number, at: length + 4)
        length += 4 + size
        count += 1
    }

    func append(_ bytes: UnsafeRawBufferPointer) {
        reserve(4 + bytes.count)
        put(Int32(bytes.count), at: length)
        if let source = bytes.baseAddress { (start + length + 4).copyMemory(from: source, byteCount: bytes.count) }
        length += 4 + bytes.count
        count += 1
    }

    /// Returns the bytes of each element; nil for null.
    func elements() -> [[UInt8]?] {
        var elements: [[UInt8]?] = []
        elements.reserveCapacity(count)
        var offset = Self.headerLength
        while offset < length {
            let size = Int(Int32(bigEndian: start.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
            offset += 4
            elements.append(size < 0 ? nil : Array(UnsafeRawBufferPointer(start: start + offset, count: size)))
            offset += max(size, 0)
        }
        return elements
    }

    private func put<Number: FixedWidthInteger>(_ number: Number, at offset: Int) {
        start.storeBytes(of: number.bigEndian, toByteOffset: offset, as: Number.self)
    }

    private func reserve(_ count: Int) {
        guard length + count > capacity else { return }
        let larger = max(2 * capacity, length + count)
        let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
        moved.copyMemory(from: start, byteCount: length)
        start.deallocate()
        (start, capacity) = (moved, larger)
    }
}
