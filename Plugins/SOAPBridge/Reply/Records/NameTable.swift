internal import Glibc

/// Numbers for names, so that the hot path compares integers.
///
/// A hash table with open addressing over FNV-1a.
struct NameTable: Sendable {
    private var spans: [Span] = []
    private var text: [UInt8] = []
    private var table = [Int32](repeating: -1, count: 64)

    private struct Span {
        var start: Int32
        var count: Int32
    }

    /// Returns the number of a name, adding the name if it is new.
    mutating func number(_ name: UnsafeRawBufferPointer) -> Int32 {
        var slot = Self.hash(name) & (table.count - 1)
        while table[slot] >= 0 {
            if isEqual(table[slot], name) { return table[slot] }
            slot = (slot + 1) & (table.count - 1)
        }
        let number = Int32(spans.count)
        spans.append(Span(start: Int32(text.count), count: Int32(name.count)))
        text.append(contentsOf: name)
        table[slot] = number
        if spans.count * 2 > table.count { grow() }
        return number
    }

    mutating func number(_ name: String) -> Int32 {
        var name = name
        return name.withUTF8 { number(UnsafeRawBufferPointer($0)) }
    }

    /// Returns whether `number` is the number of this name.
    func isEqual(_ number: Int32, _ name: UnsafeRawBufferPointer) -> Bool {
        let span = spans[Int(number)]
        guard Int(span.count) == name.count else { return false }
        return text.withUnsafeBytes { own in
            guard let a = own.baseAddress, let b = name.baseAddress else { return name.isEmpty }
            return memcmp(a + Int(span.start), b, name.count) == 0
        }
    }

    /// Calls `body` with the name's UTF-8.
    func withName<Result>(_ number: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let span = spans[Int(number)]
        return text.withUnsafeBytes { own in
            body(UnsafeRawBufferPointer(rebasing: own[Int(span.start)..<Int(span.start + span.count)]))
        }
    }

    /// Returns a copy of the name.
    func name(_ number: Int32) -> String { withName(number) { String(decoding: $0, as: UTF8.self) } }

    private mutating func grow() {
        table = [Int32](repeating: -1, count: table.count * 2)
        for number in spans.indices {
            var slot = withName(Int32(number)) { Self.hash($0) } & (table.count - 1)
            while table[slot] >= 0 { slot = (slot + 1) & (table.count - 1) }
            table[slot] = Int32(number)
        }
    }

    private static func hash(_ name: UnsafeRawBufferPointer) -> Int {
        var hash: UInt32 = 2_166_136_261
        for byte in name { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        return Int(hash)
    }
}
