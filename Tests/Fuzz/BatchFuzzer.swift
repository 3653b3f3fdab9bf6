/// The fuzz targets of `Scripts/fuzz`: what a plugin or a tap hands over, read to the last byte under AddressSanitizer.
///
/// Compiled together with RecordBatch, so no part of the package: swift build knows nothing of it.

internal import CBridge
internal import Glibc

/// A batch that is taken must be readable, copyable, and the same after copying.
func readBatch(_ bytes: UnsafeRawBufferPointer) {
    guard let batch = try? RecordBatch(copying: bytes) else { return }
    let writer = RecordBatchWriter()
    for index in 0..<batch.keyCount { check(batch.key(index).utf8.count <= bytes.count) }
    for index in 0..<batch.count {
        var budget = 1 << 16
        guard visit(batch[index], &budget) else { continue }
        _ = batch.json(index)
        writer.copy(batch[index])
    }
    guard let copy = try? writer.finish() else { fatalError("a batch that was taken cannot be written again") }
    check(copy.count <= batch.count)
}

/// Reads all of a value; false when it is larger than is worth the time.
private func visit(_ value: BatchValue, _ budget: inout Int) -> Bool {
    budget -= 1
    guard budget > 0 else { return false }
    switch value.tag {
    case .text, .decimal, .bytes: for byte in value.rawBytes { budget -= Int(byte & 0) }
    case .array: for index in 0..<value.count where !visit(value[index], &budget) { return false }
    case .object:
        for index in 0..<value.count {
            check(value[value[index].key] != nil)
            if !visit(value[index], &budget) { return false }
        }
    default: _ = value.int64
    }
    return true
}

/// What is read as JSON must come out as JSON that says the same.
func readJSON(_ bytes: UnsafeRawBufferPointer) {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let batch = try? JSONParser.batch(text) else { return }
    let once = batch.json(0)
    guard let again = try? JSONParser.batch(once) else { fatalError("it writes no JSON: \(once)") }
    check(again.json(0) == once)
}

private func check(_ holds: Bool) {
    if !holds { abort() }
}

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: data, count: size)
    #if FUZZ_JSON
    readJSON(bytes)
    #else
    readBatch(bytes)
    #endif
    return 0
}

#if !FUZZ_JSON
@_silgen_name("LLVMFuzzerMutate")
func mutate(_ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ most: Int) -> Int

/// Mutates, and then mostly makes the header's sizes add up: what does not is refused at once and teaches nothing.
@_cdecl("LLVMFuzzerCustomMutator")
public func customMutator(
    _ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ most: Int, _ seed: CUnsignedInt
) -> Int {
    let size = mutate(data, size, most)
    let headerSize = MemoryLayout<bmo_batch_header>.size
    guard seed % 8 != 0, size > headerSize else { return size }
    let raw = UnsafeMutableRawPointer(data)
    var header = raw.loadUnaligned(as: bmo_batch_header.self)
    header.magic = UInt32(BMO_BATCH_MAGIC)
    header.format = UInt16(BMO_BATCH_FORMAT)
    let room = (size - headerSize) & ~7
    header.key_count %= UInt32(room / 8 + 1)
    var left = room - Int(header.key_count) * 8
    header.record_count %= UInt32(left / 16 + 1)
    left -= Int(header.record_count) * 16
    header.slot_count %= UInt32(left / 16 + 1)
    left -= Int(header.slot_count) * 16
    header.text_size %= UInt32(left + 1)
    left -= (Int(header.text_size) + 7) & ~7
    // What is left is bytes; up to seven of them are padding.
    header.bytes_size = UInt32(max(0, left))
    header.total_size = UInt32(headerSize + room)
    raw.storeBytes(of: header, as: bmo_batch_header.self)
    return headerSize + room
}
#endif
