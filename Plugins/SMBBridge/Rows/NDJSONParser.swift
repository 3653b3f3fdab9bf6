import BridgeKit

/// Rows of newline-delimited JSON: an object a line.
final class NDJSONParser: RowParser {
    /// Longer lines fill the memory.
    static let maximumLineBytes = 16 << 20

    private let block: JSONBlock
    private var line: [UInt8] = []

    init() throws { block = try JSONBlock() }

    func parse(_ text: ArraySlice<UInt8>, into sink: RowSink) throws {
        var rest = text
        while let end = rest.firstIndex(of: 0x0A) {
            if line.isEmpty {
                take(rest[..<end], sink)
            } else {
                line += rest[..<end]
                take(line[...], sink)
                line.removeAll(keepingCapacity: true)
            }
            rest = rest[rest.index(after: end)...]
        }
        line += rest
        guard line.count <= Self.maximumLineBytes else {
            throw FileFault(reason: "has more than \(Self.maximumLineBytes >> 20) MiB in line \(sink.row + 1)")
        }
        block.flush(into: sink)
    }

    func finish(into sink: RowSink) throws -> Bool {
        take(line[...], sink)
        line = []
        block.flush(into: sink)
        return true
    }

    private func take(_ text: ArraySlice<UInt8>, _ sink: RowSink) {
        guard let first = text.firstIndex(where: { !JSONScan.isSpace($0) }),
            let last = text.lastIndex(where: { !JSONScan.isSpace($0) })
        else { return }
        let object = text[first...last]
        guard sink.advance() else { return }
        guard JSONScan.isObject(object) else {
            // In its order among the others.
            block.flush(into: sink)
            sink.reject("is not one JSON object", representation: String(decoding: object.prefix(1000), as: UTF8.self))
            return
        }
        block.append(object, into: sink)
    }
}
