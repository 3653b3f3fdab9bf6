/// An array of one dimension as a parameter, to which elements are appended: the format of `array_recv` in
/// src/backend/utils/adt/arrayfuncs.c.
///
/// It has memory of its own, because appending few bytes to a Swift array costs more than these bytes.
final class ArrayBuilder: @unchecked Sendable {
    // Sendable because it belongs to the tables of one transaction, which one thread uses at a time, and the connection
    // only reads it while that thread waits.

    private struct State {
        var start: UnsafeMutableRawPointer
        var capacity = 4096
        var length = 20
        var count = 0
        /// The place of the last element.
        var last = 20

        init() { start = .allocate(byteCount: capacity, alignment: 8) }

        func put<Number: FixedWidthInteger>(_ number: Number, at offset: Int) {
            start.storeBytes(of: number.bigEndian, toByteOffset: offset, as: Number.self)
        }

        /// Begins an element with the number of its bytes; returns where these go.
        mutating func begin(_ size: Int) -> UnsafeMutableRawPointer {
            if length + 4 + size > capacity { grow(4 + size) }
            put(Int32(size), at: length)
            last = length
            length += 4 + size
            count += 1
            return start + last + 4
        }

        private mutating func grow(_ size: Int) {
            let larger = max(2 * capacity, length + size)
            let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
            moved.copyMemory(from: start, byteCount: length)
            start.deallocate()
            (start, capacity) = (moved, larger)
        }
    }

    private let state: UnsafeMutablePointer<State>

    init(of type: SQLType) {
        state = .allocate(capacity: 1)
        state.initialize(to: State())
        state.pointee.put(1 as Int32, at: 0)
        state.pointee.put(0 as Int32, at: 4)
        state.pointee.put(type.oid, at: 8)
        state.pointee.put(1 as Int32, at: 16)
    }

    deinit {
        state.pointee.start.deallocate()
        state.deallocate()
    }

    /// The bytes of the array, which has at least one element; valid until the next change.
    var bytes: UnsafeRawBufferPointer {
        state.pointee.put(Int32(state.pointee.count), at: 12)
        return UnsafeRawBufferPointer(start: state.pointee.start, count: state.pointee.length)
    }

    func appendNull() {
        state.pointee.put(1 as Int32, at: 4)
        _ = state.pointee.begin(0)
        state.pointee.put(-1 as Int32, at: state.pointee.last)
    }

    func append<Number: FixedWidthInteger>(_ number: Number) {
        state.pointee.begin(MemoryLayout<Number>.size).storeBytes(of: number.bigEndian, as: Number.self)
    }

    func append(_ bytes: UnsafeRawBufferPointer) {
        let place = state.pointee.begin(bytes.count)
        if let source = bytes.baseAddress { place.copyMemory(from: source, byteCount: bytes.count) }
    }

    /// Removes the element that was appended last, once.
    func removeLast() {
        state.pointee.length = state.pointee.last
        state.pointee.count -= 1
    }

    /// Returns the bytes of each element; nil for null.
    func elements() -> [[UInt8]?] {
        let bytes = bytes
        var elements: [[UInt8]?] = []
        elements.reserveCapacity(state.pointee.count)
        var offset = 20
        while offset < bytes.count {
            let size = Int(Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
            offset += 4
            elements.append(size < 0 ? nil : Array(bytes[offset..<offset + size]))
            offset += max(size, 0)
        }
        return elements
    }
}
