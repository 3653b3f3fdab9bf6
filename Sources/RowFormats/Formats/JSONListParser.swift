import BridgeJSON
import BridgeKit
import RecordBatch

/// Parses the rows of a JSON document: the elements of a list.
///
/// A list at the root is streamed; a document with a nested list is held in memory.
final class JSONListParser: RowParser {
    private enum Mode {
        case unknown, list, document
    }

    /// The state of the scan through a list at the root.
    private enum Place {
        case beforeElement, afterElement, inElement, behind
    }

    private let path: JSONPath?
    private let limits: RowLimits
    private let block: JSONBlock
    private var mode = Mode.unknown
    private var place = Place.beforeElement
    private var isFirst = true
    private var scan = JSONScan()
    private var element: [UInt8] = []
    private var document: JSONListDocument?
    private var bytes: [UInt8] = []

    /// - Parameter path: The path of the list; nil detects it.
    init(_ path: JSONPath?, limits: RowLimits) throws {
        self.path = path
        self.limits = limits
        block = try JSONBlock()
    }

    func parse(_ text: ArraySlice<UInt8>, into sink: RowSink) throws {
        var text = text
        if mode == .unknown {
            guard let first = text.firstIndex(where: { !JSONScan.isSpace($0) }) else { return }
            text = text[first...]
            mode = text[first] == UInt8(ascii: "[") && path ?? .root == .root ? .list : .document
            if mode == .list { text = text.dropFirst() }
        }
        guard mode == .list else {
            bytes += text
            guard bytes.count <= limits.document else {
                throw FileFault(
                    reason: "is larger than \(RowLimits.words(limits.document))",
                    remedy:
                        "only a file whose root is the list is read piece by piece; or raise max_body_bytes")
            }
            return
        }
        for byte in text { try take(byte, sink) }
        block.flush(into: sink)
    }

    func finish(into sink: RowSink) throws -> Bool {
        switch mode {
        case .unknown: throw FileFault(reason: "is empty where JSON was expected")
        case .list:
            guard place == .behind else { throw FileFault(reason: "ends in the middle of its JSON list") }
            block.flush(into: sink)
            return true
        case .document:
            let document = try document ?? JSONListDocument(bytes, path, limits)
            bytes = []
            self.document = document
            return try document.write(into: sink)
        }
    }

    private func take(_ byte: UInt8, _ sink: RowSink) throws {
        switch place {
        case .inElement:
            if scan.isOutside, byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]") {
                // A number or a literal ends at the first other character.
                try endElement(sink)
                return try take(byte, sink)
            }
            element.append(byte)
            guard element.count <= limits.record else {
                throw FileFault(
                    reason: "has more than \(RowLimits.words(limits.record)) in row \(sink.row + 1)",
                    remedy: "raise max_record_bytes")
            }
            if scan.take(byte) { try endElement(sink) }
        case .beforeElement:
            if JSONScan.isSpace(byte) { return }
            if byte == UInt8(ascii: "]"), isFirst {
                place = .behind
                return
            }
            guard byte != UInt8(ascii: ","), byte != UInt8(ascii: "]") else {
                throw FileFault(reason: "is not JSON: an element is missing after row \(sink.row)")
            }
            isFirst = false
            scan = JSONScan()
            place = .inElement
            try take(byte, sink)
        case .afterElement:
            if JSONScan.isSpace(byte) { return }
            switch byte {
            case UInt8(ascii: ","): place = .beforeElement
            case UInt8(ascii: "]"): place = .behind
            default: throw FileFault(reason: "is not JSON: no comma after row \(sink.row)")
            }
        case .behind:
            guard JSONScan.isSpace(byte) else {
                throw FileFault(reason: "is not JSON: something follows its list")
            }
        }
    }

    private func endElement(_ sink: RowSink) throws {
        place = .afterElement
        defer { element.removeAll(keepingCapacity: true) }
        guard sink.advance() else { return }
        guard element.first == UInt8(ascii: "{") else {
            block.flush(into: sink)
            sink.reject(
                "is not a JSON object", representation: String(decoding: element.prefix(1000), as: UTF8.self))
            return
        }
        block.append(element[...], into: sink)
    }
}

/// A JSON document in memory, with the path of its records.
private final class JSONListDocument {
    private static let batchBytes = 1 << 20

    private let reader: JSONRecordReader
    private let writer = RecordBatchWriter()
    private let path: JSONPath
    /// The number of the records' path among those whose values the reader keeps.
    private let place: UInt32

    init(_ bytes: [UInt8], _ path: JSONPath?, _ limits: RowLimits) throws {
        reader = try JSONRecordReader()
        reader.limit(bytes: limits.document)
        writer.limit(bytes: limits.batch)
        self.path = path ?? .root
        try reader.addPath(self.path)
        place = try reader.addPath(self.path)
        guard reader.begin(bytes, count: bytes.count) else { throw fault }
        // An object with lists may be a record, or may contain the records: only the configuration knows.
        let lists = path == nil ? reader.arrayPaths : ""
        if !lists.isEmpty { throw Self.missingPath(lists) }
    }

    private static func missingPath(_ lists: String) -> FileFault {
        FileFault(
            reason: "does not say where its records are",
            remedy: lists.isEmpty ? "check records" : "set records to one of: \(lists)")
    }

    /// Writes the next rows; returns whether they were the last.
    func write(into sink: RowSink) throws -> Bool {
        let status = reader.next(into: writer, bytes: Self.batchBytes)
        if status == .failed { throw fault }
        if status == .done, reader.recordCount == 0, reader.value(at: place).kind == .null {
            // Some programs write what they could not read like this.
            throw FileFault(
                reason: "has null where its records should be (\(path))",
                remedy: "if it has none, write an empty list there: []")
        }
        if status == .done, reader.lacksRecords {
            throw FileFault(
                reason: "has a list on the path \(path), and none of its elements has the rest of that path",
                remedy: "check records; if there are no records, write an empty list there: []")
        }
        var rejected: [Int: (reason: String, text: String)] = [:]
        for record in reader.rejected {
            rejected[record.index] = (record.reason, reader.excerpt(of: record, bytes: 1000))
        }
        let batch: RecordBatch
        do {
            batch = try writer.finish()
        } catch {
            throw FileFault(
                reason: "has a record that is too large: \(error)", remedy: "raise max_record_bytes")
        }
        let first = reader.recordCount - batch.count - rejected.count
        var next = 0
        for index in 0..<(batch.count + rejected.count) {
            let isWanted = sink.advance()
            if let fault = rejected[first + index] {
                if isWanted { sink.reject(fault.reason, representation: fault.text) }
                continue
            }
            let record = batch[next]
            next += 1
            guard isWanted else { continue }
            sink.writer.object {
                sink.writeProvenance()
                for (key, value) in record.members {
                    sink.writer.key(key)
                    sink.writer.copy(value)
                }
            }
        }
        return status == .done
    }

    private var fault: FileFault {
        let error = reader.failure
        switch error.fault {
        case .noRecords, .notRecords: return Self.missingPath(reader.arrayPaths)
        case .notList:
            return FileFault(
                reason: "has an object where \(path) needs a list, at byte \(error.offset)", remedy: "check records")
        default: return FileFault(reason: "is not JSON: \(error.message), at byte \(error.offset)")
        }
    }
}
