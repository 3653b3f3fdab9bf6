package import Mapping
package import StoreContract
internal import RecordBatch
internal import SystemCalls
internal import TextFormats

/// The batches of a database's listings, between two runs: a file in the user's cache.
///
/// It is valid only for the content of the database that it names by a stamp, which the store chooses and checks. Not in
/// the database itself, whose content could not name itself, and which a sync that finds nothing new leaves as it is. An
/// unreadable file counts as none.
package struct BatchMemoryFile: Sendable {
    private let path: String
    private let folder: String
    private let model: CompiledModel

    /// The maximum size of a file, in bytes.
    private static let limit = 16 << 20
    /// The maximum number of files: those of databases that no longer exist are never read again.
    private static let maxFiles = 200
    /// The maximum number of a batch's records.
    private static let maxRecords: Int64 = 1 << 32
    /// Changes with the meaning of the content.
    private static let format: Int64 = 2

    /// Returns nil if the environment names no folder for caches.
    ///
    /// - Parameter database: The database's path or address.
    package init?(of database: String, model: CompiledModel) {
        guard let folder = CacheFolder.path("batches") else { return nil }
        var fingerprint = Fingerprint()
        fingerprint.add(database)
        self.folder = folder
        path = "\(folder)/\(String(fingerprint.value, radix: 16))"
        self.model = model
    }

    /// Returns the listings of the database with their stamp, which the store checks; nil if the file is missing.
    package func read() -> (stamp: String, listings: [ScanScope: ListingMemory])? {
        guard FileStamp(path)?.isPrivate == true,
            let bytes = try? BoundedFile.read(path, limit: Self.limit, kind: .regular, followsLinks: false),
            let batch = bytes.withUnsafeBytes({ Self.content(of: $0) })
        else { return nil }
        return withExtendedLifetime(batch) {
            guard batch.count > 0, batch[0].tag == .object, batch[0]["format"]?.integer == Self.format,
                let stamp = batch[0]["stamp"]?.text
            else { return nil }
            return listings(batch).map { (stamp, $0) }
        }
    }

    /// Returns the content of a file: a batch behind the 16 bytes of its digest; nil if it is not as it was written.
    private static func content(of bytes: UnsafeRawBufferPointer) -> RecordBatch? {
        guard bytes.count > 16 else { return nil }
        let content = UnsafeRawBufferPointer(rebasing: bytes[16...])
        let digest = BatchDigest(
            high: bytes.loadUnaligned(as: UInt64.self), low: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        return digest == BatchDigest(of: content) ? try? RecordBatch(copying: content) : nil
    }

    private func listings(_ batch: RecordBatch) -> [ScanScope: ListingMemory]? {
        var listings: [ScanScope: ListingMemory] = [:]
        for index in 1..<max(batch.count, 1) {
            let record = batch[index]
            guard record.tag == .object, let entity = record["entity"]?.text, let source = record["source"]?.text,
                let mapping = record["mapping"]?.text, let position = model.index(of: entity),
                let sets = record["members"]?.elements.map(members), let batches = record["batches"]?.elements,
                let mark = record["mark"]?.elements.compactMap(\.integer)
            else { return nil }
            var entries: [BatchDigest: ListingMemory.Entry] = [:]
            for batch in batches {
                guard let (digest, entry) = entry(batch, sets) else { return nil }
                entries[digest] = entry
            }
            listings[ScanScope(entity: entity, source: source)] = ListingMemory(
                mapping: mapping, root: model.entities[position].root, entries: entries, mark: mark)
        }
        return listings
    }

    private func members(_ set: BatchValue) -> Set<ListedMember> {
        Set(
            set.elements.compactMap { member in
                guard let entity = member["entity"]?.text.flatMap(model.index), let path = member["path"]?.text else {
                    return nil
                }
                return ListedMember(entity: entity, path: path)
            })
    }

    private func entry(
        _ value: BatchValue, _ sets: [Set<ListedMember>]
    ) -> (BatchDigest, ListingMemory.Entry)? {
        guard value.tag == .object, let numbers = value["numbers"]?.elements.compactMap(\.integer), numbers.count == 10,
            let rows = value["rows"], rows.tag == .bytes,
            let spans = value["spans"]?.elements.compactMap(\.integer), spans.count % 2 == 0,
            let absent = value["absent"]?.elements.compactMap(\.integer), sets.indices.contains(Int(numbers[9])),
            numbers[2] > 0,
            numbers[2] == numbers[3], numbers[2] <= Self.maxRecords
        else { return nil }
        var ranges: [ClosedRange<Int64>] = []
        for index in stride(from: 0, to: spans.count, by: 2) {
            guard spans[index] <= spans[index + 1] else { return nil }
            ranges.append(spans[index]...spans[index + 1])
        }
        let digest = BatchDigest(high: UInt64(bitPattern: numbers[0]), low: UInt64(bitPattern: numbers[1]))
        let summary = BatchSummary(
            records: Int(numbers[2]), absentFields: absent.map(Int.init), members: sets[Int(numbers[9])],
            absenceContext: value["context"]?.integer.map(UInt64.init(bitPattern:)))
        let batch = SeenLog.Batch(
            rows: Array(rows.rawBytes), count: Int(numbers[3]), first: numbers[4], last: numbers[5],
            greatest: numbers[6], isAscending: numbers[7] != 0, isGapless: numbers[8] != 0,
            beforeFirst: value["before"]?.integer)
        return (digest, ListingMemory.Entry(summary: summary, rows: batch, spans: ranges))
    }

    /// Keeps listings for the database with this stamp, in place of what was kept of an earlier one.
    package func write(_ listings: [ScanScope: ListingMemory], for stamp: String) {
        let writer = RecordBatchWriter()
        writer.limit(bytes: Self.limit)
        writer.object {
            writer.member("format", Self.format)
            writer.member("stamp", stamp)
        }
        for (scope, listing) in listings {
            writer.object {
                writer.member("entity", scope.entity)
                writer.member("source", scope.source)
                writer.member("mapping", listing.mapping)
                writer.member("mark", array: { for number in listing.mark { writer.int64(number) } })
                write(listing.entries, to: writer)
            }
        }
        // One that is too large, or cannot be written, is as none.
        guard let batch = try? writer.finish(), CacheFolder.make(folder) else { return }
        batch.withBytes { content in
            let digest = BatchDigest(of: content)
            let head = withUnsafeBytes(of: (digest.high, digest.low)) { Array($0) }
            try? AtomicFile.write(head + content, to: path, mode: 0o600)
        }
        CacheFolder.trim(folder, to: Self.maxFiles)
    }

    private func write(_ entries: [BatchDigest: ListingMemory.Entry], to writer: RecordBatchWriter) {
        // Most batches have the same members.
        var sets: [Set<ListedMember>: Int] = [:]
        for entry in entries.values where sets[entry.summary.members] == nil {
            sets[entry.summary.members] = sets.count
        }
        writer.member(
            "members",
            array: {
                for (set, _) in sets.sorted(by: { $0.value < $1.value }) {
                    writer.array {
                        for member in set {
                            writer.object {
                                writer.member("entity", model.entities[member.entity].name)
                                writer.member("path", member.path)
                            }
                        }
                    }
                }
            })
        writer.member(
            "batches",
            array: {
                for (digest, entry) in entries {
                    writer.object { write(digest, entry, set: sets[entry.summary.members] ?? 0, to: writer) }
                }
            })
    }

    private func write(
        _ digest: BatchDigest, _ entry: ListingMemory.Entry, set: Int, to writer: RecordBatchWriter
    ) {
        let rows = entry.rows
        func numbers(_ name: String, _ values: [Int64]) {
            writer.member(name, array: { for value in values { writer.int64(value) } })
        }
        numbers(
            "numbers",
            [
                Int64(bitPattern: digest.high), Int64(bitPattern: digest.low), Int64(entry.summary.records),
                Int64(rows.count), rows.first, rows.last, rows.greatest, rows.isAscending ? 1 : 0,
                rows.isGapless ? 1 : 0, Int64(set),
            ])
        numbers("spans", entry.spans.flatMap { [$0.lowerBound, $0.upperBound] })
        numbers("absent", entry.summary.absentFields.map(Int64.init))
        writer.member("rows", rows.rows)
        if let before = rows.beforeFirst { writer.member("before", before) }
        if let context = entry.summary.absenceContext { writer.member("context", Int64(bitPattern: context)) }
    }
}
