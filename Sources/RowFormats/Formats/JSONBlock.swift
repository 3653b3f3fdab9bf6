import BridgeJSON
import BridgeKit
import RecordBatch

/// JSON objects of one file that are parsed together, because simdjson's first stage pays off for longer texts.
///
/// The members with an object's origin are added to its text, so the values are copied from the text to the batch in
/// one pass.
final class JSONBlock {
    private static let blockBytes = 1 << 17

    private let reader: JSONRecordReader
    private var text: [UInt8] = []
    private var items: [Item] = []
    private var rejectedCount = 0

    /// An object in ``text``; the file's own part begins after the added members.
    private struct Item {
        let row: Int
        let range: Range<Int>
        let ownStart: Int
    }

    /// - Throws: ``BridgeError`` if memory runs out.
    init() throws {
        reader = try JSONRecordReader()
        try reader.addPath(.root)
    }

    /// Adds a text that begins with a brace, has balanced brackets, and ends with the closing one.
    func append(_ object: ArraySlice<UInt8>, into sink: RowSink) {
        text.append(text.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
        let start = text.count
        text.append(UInt8(ascii: "{"))
        text += sink.provenanceJSON()
        let rest = object.dropFirst()
        if rest.first(where: { !JSONScan.isSpace($0) }) == UInt8(ascii: "}") { text.removeLast() }
        let ownStart = text.count
        text += rest
        items.append(Item(row: sink.row, range: start..<text.count, ownStart: ownStart))
        if text.count >= Self.blockBytes { flush(into: sink) }
    }

    /// Parses the added objects.
    func flush(into sink: RowSink) {
        guard !items.isEmpty else { return }
        defer {
            text.removeAll(keepingCapacity: true)
            items.removeAll(keepingCapacity: true)
        }
        text.append(UInt8(ascii: "]"))
        let before = sink.writer.recordCount
        guard parse(text, items, into: sink) != nil else { return }
        // An object is not JSON: the ones before it are written, and each of the rest is parsed alone.
        let done = sink.writer.recordCount - before + rejectedCount
        for item in items.dropFirst(done) {
            let object = Array(text[item.range])
            if let reason = parse(object, [item], into: sink) {
                let own = String(decoding: text[item.ownStart..<item.range.upperBound].prefix(1000), as: UTF8.self)
                sink.reject(row: item.row, "is not JSON: \(reason)", representation: "{" + own)
            }
        }
    }

    /// Parses the bytes; returns nil on success, else the error message.
    private func parse(_ bytes: [UInt8], _ items: [Item], into sink: RowSink) -> String? {
        rejectedCount = 0
        defer { reader.end() }
        guard reader.begin(bytes, count: bytes.count) else { return reader.failure.message }
        while true {
            let status = reader.next(into: sink.writer)
            for record in reader.rejected {
                rejectedCount += 1
                sink.reject(
                    row: record.index < items.count ? items[record.index].row : sink.row, record.reason,
                    representation: reader.excerpt(of: record, bytes: 1000))
            }
            switch status {
            case .done: return nil
            case .failed:
                sink.writer.abandonRecord()
                return reader.failure.message
            case .more: continue
            }
        }
    }
}
