/// An array that grows at its end, and that is cheap to copy and then to append to: a copy shares all full blocks.
///
/// The page of a scan works on a copy of what the scan has listed. With `Array`, the page's first append would copy
/// everything, so that a scan would take time by the square of its pages.
package struct LayeredArray<Element: Sendable>: RandomAccessCollection, Sendable {
    private static var blockSize: Int { 1024 }

    private var blocks: [[Element]] = []
    private var last: [Element] = []

    package init() {}

    package var startIndex: Int { 0 }
    package var endIndex: Int { blocks.count * Self.blockSize + last.count }

    package subscript(position: Int) -> Element {
        let (block, offset) = position.quotientAndRemainder(dividingBy: Self.blockSize)
        return block < blocks.count ? blocks[block][offset] : last[offset]
    }

    package mutating func append(_ element: Element) {
        last.append(element)
        guard last.count == Self.blockSize else { return }
        blocks.append(last)
        last = []
    }

    package mutating func append(contentsOf elements: some Sequence<Element>) {
        for element in elements { append(element) }
    }

    /// Appends elements in blocks, which takes less time than one by one.
    package mutating func append(contentsOf elements: [Element]) {
        var rest = elements[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.blockSize - last.count)
            last += part
            rest = rest.dropFirst(part.count)
            guard last.count == Self.blockSize else { return }
            blocks.append(last)
            last = []
        }
    }

    /// Returns the elements from a position on.
    package func elements(from start: Int) -> [Element] {
        let (block, offset) = start.quotientAndRemainder(dividingBy: Self.blockSize)
        guard block < blocks.count else { return Array(last.dropFirst(offset)) }
        var elements = Array(blocks[block].dropFirst(offset))
        for further in blocks[(block + 1)...] { elements += further }
        return elements + last
    }
}
