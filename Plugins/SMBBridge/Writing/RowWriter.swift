import BridgeKit
import RecordBatch
import RowFormats

/// Appends rows to files, and changes or deletes rows.
struct RowWriter {
    /// The size limit of a file to rewrite, which is held in memory.
    static let maximumBytes = 64 << 20

    let connection: SMBConnection
    let section: RowSection

    private var root: [String] { connection.url.folder }

    func write(_ request: WriteRequest, into writer: RecordBatchWriter) throws {
        guard section.writing != .none else {
            throw BridgeError(
                .unsupported, "the entity \(request.entity) does not say that its files may be changed",
                remedy: "set write: append, or write: rewrite, in its section")
        }
        guard request.operation == .create || section.writing == .rewrite else {
            throw BridgeError(
                .unsupported, "the entity \(request.entity) takes new rows only", remedy: "set write: rewrite")
        }
        if case .csv(let dialect) = section.format, dialect.isLenient, request.operation != .create {
            throw BridgeError(.unsupported, "with lenient_quotes bmo cannot tell where a row to change ends")
        }
        let place = try RowPlace(request, section)
        let path = place.path
        do {
            try path.checkLinks(on: connection)
            switch request.operation {
            case .create: try append(request, to: place)
            case .update, .delete: try rewrite(request, in: place)
            }
        } catch let failure as SMBFailure {
            var error = connection.explain(connection.confirmed(failure))
            if request.operation == .create, error.mayHaveArrived {
                // Appended again, the row would be there twice: the host looks for it first.
                (error.code, error.isRetryable, error.mayHaveArrived) = (.timeout, false, false)
            }
            throw error
        } catch let fault as FileFault {
            throw BridgeError(
                .malformed, "\(path.text) \(fault.reason)", remedy: fault.remedy,
                location: connection.url.location(path.names))
        }
    }

    private func append(_ request: WriteRequest, to place: RowPlace) throws {
        let path = place.path
        guard let version = try connection.status(of: root + path.names)?.version else {
            return try begin(request, place)
        }
        try checkSize(version, path)
        // The file's beginning shows the header and the kind of line end; its last byte shows whether the last line is
        // complete.
        let head = try connection.read(
            root + path.names, offset: 0, limit: Self.maximumBytes, expecting: version)
        let text = try RowText(try decoded(head.bytes), format: section.format)
        try checkSkippedRows(text, path)
        if case .csv = section.format, text.columns.isEmpty {
            return try begin(request, place, replacing: version, mark: mark(of: text.bytes))
        }
        try checkKey(request, text, path)
        let row = try text.appending(text.text(of: nil, with: place.values(unless: text.columns.contains)))
        try connection.append(root + path.names, try encoder().encode(row), ifSize: version.size)
    }

    /// Refuses a new row if the file has one with its key.
    private func checkKey(_ request: WriteRequest, _ text: RowText, _ path: SharePath) throws {
        // The remote may assign the key, and rows that cannot be read have none.
        guard let key = try? FileRowKey(request, section), let rows = try? key.rows(of: text), !rows.isEmpty else {
            return
        }
        throw BridgeError(
            .conflict, "\(path.text) has a row with \(key.words) already",
            remedy: "sync, then change that row, or use another key", location: connection.url.location(path.names))
    }

    /// Creates the file, with a header if the format has one.
    ///
    /// - Parameters:
    ///   - version: The state of an empty file that is there; nil for none.
    ///   - mark: The byte order mark of that file, in UTF-8.
    private func begin(
        _ request: WriteRequest, _ place: RowPlace, replacing version: FileVersion? = nil, mark: [UInt8] = []
    ) throws {
        let path = place.path
        if version == nil { try path.checkNewNames() }
        let values = try place.values { _ in false }
        var header: [UInt8] = []
        if case .csv(let dialect) = section.format, case .firstRow = dialect.header {
            // Rows that are created later may have values that this one lacks.
            let captures = section.listing.patterns.captureNames
            let all = request.members + values.names.filter { !request.members.contains($0) }
            let names = all.filter { !$0.hasPrefix("@") && !captures.contains($0) }
            let delimiter = String(Unicode.Scalar(dialect.delimiter))
            header = Array((names.map { CSVText.field($0, dialect) }.joined(separator: delimiter) + "\n").utf8)
        }
        let text = try RowText(header, format: section.format)
        try checkSkippedRows(text, path)
        let row = try text.text(of: nil, with: values)
        for depth in path.folder.indices {
            let folder = root + path.folder[...depth]
            if try connection.status(of: folder) == nil { try connection.makeFolder(folder) }
        }
        try replace(path, try encoder().encode(mark + header + row + [0x0A]), ifStill: version)
    }

    private func rewrite(_ request: WriteRequest, in place: RowPlace) throws {
        let path = place.path
        guard let version = try connection.status(of: root + path.names)?.version else {
            throw BridgeError(
                .notFound, "there is no file \(path.text)", remedy: "sync before writing",
                location: connection.url.location(path.names))
        }
        try checkSize(version, path)
        let bytes = try connection.read(root + path.names, offset: 0, limit: Self.maximumBytes, expecting: version)
            .bytes
        var text = try RowText(try decoded(bytes), format: section.format)
        let key = try FileRowKey(request, section)
        if let missing = try key.missing(in: text) {
            let isCSV = if case .csv = section.format { true } else { false }
            throw BridgeError(
                .configuration, "\(path.text) has no \(isCSV ? "column" : "member") \(missing)",
                remedy: "name the key's columns in the section: columns: {ATTRIBUTE: COLUMN}",
                location: connection.url.location(path.names))
        }
        let found = try key.rows(of: text)
        guard let row = found.first else {
            let place = connection.url.location(path.names)
            guard request.operation == .delete else {
                throw BridgeError(
                    .notFound, "\(path.text) has no row with \(key.words)", remedy: "sync before writing",
                    location: place)
            }
            // A missing row is already in the desired state.
            if try key.isConclusive(in: text) { return }
            throw BridgeError(
                .configuration, "\(path.text) has no row with \(key.words), or writes that key in another way",
                remedy: "sync; if the row is still there, delete it in the file, or keep the key as the file has it",
                location: place)
        }
        guard found.count == 1 else {
            throw BridgeError(
                .conflict, "\(path.text) has \(found.count) rows with \(key.words)", remedy: "make the key unique",
                location: connection.url.location(path.names))
        }
        if request.operation == .delete {
            text.remove(row)
        } else {
            let wholes = request.changed.map { $0.strings("path") }
            // A row's own member is read in place of the capture of its name.
            let values = try place.values { try text.values(of: row, at: [[$0]])[0] != nil }
            text.replace(row, with: try text.text(of: row, with: values, replacing: wholes))
        }
        try replace(path, try encoder().encode(text.bytes), ifStill: version)
    }

    /// Refuses a file in which the reader would take the header or the new row for one of those that it leaves out.
    private func checkSkippedRows(_ text: RowText, _ path: SharePath) throws {
        guard text.lacksSkippedRows else { return }
        throw BridgeError(
            .configuration, "\(path.text) does not have the rows that skip_rows leaves out",
            remedy: "put them into the file, with the header below them", location: connection.url.location(path.names))
    }

    private func checkSize(_ version: FileVersion, _ path: SharePath) throws {
        guard version.size <= Self.maximumBytes else {
            throw BridgeError(
                .limit, "\(path.text) is larger than \(Self.maximumBytes >> 20) MiB: bmo does not change its rows",
                location: connection.url.location(path.names))
        }
    }

    private func replace(_ path: SharePath, _ bytes: [UInt8], ifStill version: FileVersion?) throws {
        let target = root + path.names
        try connection.put(bytes, at: target, through: root + path.temporary, replacing: version?.size) { now in
            guard now?.version == version else {
                throw SMBFailure(cause: .changed, action: .writeFile, path: root + path.names)
            }
        }
    }

    private func encoder() throws -> TextEncoder { try TextEncoder(encoding: section.encoding) }

    /// Returns the byte order mark of a text in UTF-8; empty without one.
    private func mark(of text: [UInt8]) -> [UInt8] {
        text.starts(with: TextEncoder.utf8Mark) ? TextEncoder.utf8Mark : []
    }

    /// Returns a file's text in UTF-8, with its byte order mark.
    private func decoded(_ bytes: [UInt8]) throws -> [UInt8] {
        guard Packing(bytes) == .none else { throw FileFault(reason: "is packed: bmo writes to plain files only") }
        guard section.encoding != nil || TextDecoder.encoding(ofMarkIn: bytes) == nil else {
            throw FileFault(reason: "is UTF-16 or UTF-32", remedy: "set encoding, and bmo writes it so")
        }
        guard section.encoding?.lowercased().hasPrefix("utf-16") != true else {
            throw FileFault(reason: "is UTF-16: bmo changes rows in one-byte encodings and UTF-8 only")
        }
        if section.encoding == nil { return bytes }
        let decoder = try TextDecoder(encoding: section.encoding)
        // The decoder leaves the mark out.
        let encodedMark = TextEncoder.mark(in: section.encoding)
        let mark = !encodedMark.isEmpty && bytes.starts(with: encodedMark) ? TextEncoder.utf8Mark : []
        do {
            let text = try decoder.decode(bytes)
            try decoder.finish()
            return mark + text
        } catch {
            throw FileFault(reason: "is not \(section.encoding ?? "") at byte \(error.offset)")
        }
    }
}
