import BridgeKit

/// Parses the rows of newline-delimited JSON: one object per line.
final class NDJSONParser: RowParser {
    /// A longer line would fill the memory.
    private let limits: RowLimits
    private let block: JSONBlock
    private var line: [UInt8] = []

    init(limits: RowLimits) throws {
        self.limits = limits
        block = try JSONBlock()
    }

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
        guard line.count <= limits.record else {
            throw FileFault(
                reason: "has more than \(RowLimits.words(limits.record)) in line \(sink.row + 1)",
                remedy: "raise max_record_bytes")
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
            // Keep the order of the rows.
            block.flush(into: sink)
            sink.reject(
                "is not one JSON object",
                representation: String(decoding: object.prefix(1000), as: UTF8.self))
            return
        }
        block.append(object, into: sink)
    }
}
