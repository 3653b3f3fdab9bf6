/// The white space of XML 1.0, section 2.3: space, tab, carriage return and line feed.
enum XMLSpace {
    static func contains(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D }

    static func isAll(of text: UnsafeRawBufferPointer) -> Bool { text.allSatisfy(contains) }

    static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var start = 0
        var end = text.count
        while start < end, contains(text[start]) { start += 1 }
        while end > start, contains(text[end - 1]) { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: text[start..<end])
    }
}
