internal import BridgeKit
internal import Glibc
internal import RecordBatch
internal import SystemCalls

/// A run of a tap as a scan of one stream.
final class TapSource: RecordSource {
    private static let maxRecords = 1000
    private static let maxBytes = 1 << 20
    /// The time after which the records of a slow tap are passed on, which shows the host that the scan is alive; in
    /// milliseconds.
    private static let patience = 2000

    private let tap: Tap
    private let stream: String
    /// The names that its messages may have.
    private let names: Set<String>
    private let method: Replication?
    private let process: any TapRun
    /// The state passed to the run.
    private let givenState: String?

    private var state: String?
    private var hasSchema = false
    private var hasMoved = false
    /// The version of the stream's table to which the records belong, and the last activated version.
    private var version: Int64?
    private var activated: Int64?
    /// Whether the records belong to more than one version.
    private var isRepeated = false
    /// Counts since the last end of a page, so that the pages of slow and fast taps end alike.
    private var pageRecords = 0
    private var pageBytes = 0
    private var ignoredTypes: Set<String> = []
    /// The deletions since the last batch.
    private var deleted: DeletedObjects
    /// A record that was read already, but must follow the deletions of the batch before.
    private var held: TapMessage?
    /// Whether the host reads when a record was deleted.
    private let readsDeletion: Bool

    private static let deletion = "_sdc_deleted_at"

    /// Starts the tap.
    ///
    /// - Parameters:
    ///   - names: The names that the stream's messages may have.
    ///   - method: The stream's replication method; nil if unknown.
    ///   - catalog: The catalog's JSON with the stream selected; nil for a tap without one.
    ///   - state: The state of an earlier run.
    ///   - keyPaths: The paths of the key in a record.
    ///   - fields: The members of a record that the host reads; nil means all.
    init(
        tap: Tap, section: TapSection, names: Set<String>, method: Replication?, catalog: String?, state: String?,
        keyPaths: [String], fields: Set<String>?
    ) throws {
        readsDeletion = fields?.contains(Self.deletion) ?? true
        self.tap = tap
        stream = section.stream
        self.names = names
        self.method = method
        givenState = state
        deleted = DeletedObjects(keyPaths: keyPaths)
        process = try tap.run(.stream(section, catalog: catalog, state: state))
    }

    deinit { process.end() }

    func cancel() { process.cancel() }

    func next(into writer: RecordBatchWriter) throws -> Page {
        var page = Page(isPageEnd: false, isEnd: false, location: stream)
        try read(into: writer, &page)
        page.deleted = deleted.take()
        return page
    }

    private func read(into writer: RecordBatchWriter, _ page: inout Page) throws {
        if let message = held {
            held = nil
            if let record = message.batch[0]["record"] { write(record, to: writer) }
            withExtendedLifetime(message) {}
            pageRecords += 1
        }
        let deadline = MonotonicClock.milliseconds + Self.patience
        while pageRecords < Self.maxRecords, pageBytes < Self.maxBytes {
            switch try process.next(within: max(0, deadline - MonotonicClock.milliseconds)) {
            case .line(let line):
                let before = writer.recordCount + page.rejected.count + deleted.count
                try take(line, into: writer, &page)
                pageRecords += max(0, writer.recordCount + page.rejected.count + deleted.count - before)
                pageBytes += line.count
                if held != nil { return }
            case .rest(let line):
                try validate(rest: line)
                try take(line, into: writer, &page)
                if held != nil { return }
            case .nothing: return
            case .end:
                try end(&page)
                return
            }
        }
        page.isPageEnd = true
        (pageRecords, pageBytes) = (0, 0)
    }

    /// Throws for bytes after the last line's end without a whole message: the tap ended within it.
    private func validate(rest: [UInt8]) throws {
        guard rest.contains(where: { !Self.isSpace($0) }), (try? TapMessage(rest)) == nil else { return }
        try tap.validate(try process.exit(), process, doing: "reading `\(stream)`")
        throw BridgeError(
            .malformed, "\(tap.name) ended in the middle of a message: \(shown(rest))", remote: process.lastMessage)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0D].contains(byte) }

    private func take(_ line: [UInt8], into writer: RecordBatchWriter, _ page: inout Page) throws {
        guard line.contains(where: { !Self.isSpace($0) }) else { return }
        let message: TapMessage
        do throws(TapMessage.Fault) {
            message = try TapMessage(line)
        } catch .unreadableRecord(let reason) {
            if let other = TapMessage.stream(ofUnreadable: line), !names.contains(other) { return }
            hasMoved = true
            page.rejected.append(
                Page.Rejected(index: nil, reason: reason, representation: String(decoding: line, as: UTF8.self)))
            return
        } catch {
            throw BridgeError(
                .malformed, "\(tap.name) printed something other than a Singer message: \(shown(line))",
                remedy: "a tap may print nothing else on its standard output", remote: process.lastMessage)
        }
        switch message.type {
        case "RECORD": try take(record: message, into: writer)
        case "SCHEMA": if isOwn(message) { hasSchema = true }
        // A tap that has nothing to add may say null; the next run would begin anew.
        case "STATE": if let value = message.json("value"), value != "null" { state = value }
        case "ACTIVATE_VERSION": if isOwn(message) { activated = message.integer("version") }
        case "BATCH":
            throw BridgeError(
                .unsupported, "\(tap.name) writes its records to files (BATCH messages)",
                remedy: "remove \"batch_config\" from its configuration")
        default:
            if ignoredTypes.count < 10, ignoredTypes.insert(message.type).inserted {
                page.warnings.append("\(tap.name) sends messages of the unknown type `\(message.type.prefix(50))`")
            }
        }
    }

    private func isOwn(_ message: TapMessage) -> Bool { message.stream.map { names.contains($0) } ?? false }

    private func take(record message: TapMessage, into writer: RecordBatchWriter) throws {
        // A tap may be unable to omit other streams.
        guard isOwn(message) else { return }
        guard hasSchema else {
            throw BridgeError(.malformed, "\(tap.name) sent a record of `\(stream)` without a SCHEMA before it")
        }
        guard let record = message.batch[0]["record"], record.tag == .object else {
            throw BridgeError(.malformed, "\(tap.name) sent a RECORD without a record")
        }
        defer { withExtendedLifetime(message) {} }
        hasMoved = true
        if let number = message.integer("version") {
            isRepeated = isRepeated || version != nil && version != number
            version = number
        }
        if let deletion = record[Self.deletion], deletion.tag != .null {
            deleted.insert(BridgeOptions(copying: record))
        } else if deleted.restore(record) {
            write(record, to: writer)
        } else {
            held = message
        }
    }

    /// Writes a record, without a null that only says that it was not deleted.
    private func write(_ record: BatchValue, to writer: RecordBatchWriter) {
        guard !readsDeletion, record[Self.deletion]?.tag == .null else { return writer.copy(record) }
        writer.object {
            for (key, value) in record.members where key != Self.deletion {
                writer.key(key)
                writer.copy(value)
            }
        }
    }

    private func end(_ page: inout Page) throws {
        try tap.validate(try process.exit(), process, doing: "reading `\(stream)`")
        guard hasSchema else {
            throw BridgeError(
                .malformed, "\(tap.name) ended without mentioning the stream `\(stream)`",
                remedy: "check whether its catalog and its configuration select that stream",
                remote: process.lastMessage)
        }
        page.isPageEnd = true
        page.isEnd = true
        if method == .fullTable {
            page.isComplete = version == nil || version == activated
            if !page.isComplete {
                page.warnings.append(
                    "\(tap.name) did not activate version \(version ?? 0) of `\(stream)`: nothing was deleted")
            }
            if isRepeated {
                page.warnings.append(
                    "\(tap.name) sent several versions of `\(stream)` in one run: objects that only an earlier one has "
                        + "stay until a run with one version lacks them")
            }
            return
        }
        guard let state = state ?? givenState else {
            throw BridgeError(
                .malformed, "\(tap.name) ended without a STATE, so the next run would return everything again",
                remedy: method == nil
                    ? "say \"replication: full_table\" in the entity's section if each run returns everything"
                    : "check whether its configuration keeps it from sending its state",
                remote: process.lastMessage)
        }
        page.token = state
        if givenState == nil {
            // The run returned all current records; but records of earlier runs may be missing only because they
            // precede a start date.
            page.isComplete = true
            page.skipped = [.everything]
        } else {
            page.isUnchanged = !hasMoved
        }
        if method == nil {
            page.warnings.append(
                "the catalog does not say how `\(stream)` is replicated: missing records are not deleted; if each run "
                    + "returns everything, say \"replication: full_table\" in the entity's section")
        }
    }

    private func shown(_ line: [UInt8]) -> String {
        let head = tap.options.texts.prefix(line, 200)
        return "`" + String(decoding: head, as: UTF8.self) + (line.count > 200 ? "..." : "") + "`"
    }
}
