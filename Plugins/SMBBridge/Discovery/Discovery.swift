import BridgeKit
import Inference
import RecordBatch
import RowFormats

/// Proposes entities for a share: its files, its folders, and the rows of table-like files.
struct Discovery {
    /// The number of rows sampled per file.
    static let sampleRows = 500
    /// The number of files whose rows are sampled.
    static let maximumSampled = 200

    private let share: any Share
    let survey: ShareSurvey
    private var names: Set<String> = []

    init(_ share: any Share) throws {
        self.share = share
        survey = try ShareSurvey(share)
    }

    /// A file with sampled rows.
    struct Sample {
        let file: ShareSurvey.File
        let section: Section
        let fields: [ColumnGuess]
        let rowCount: Int
        let confidence: Double
        let notes: [String]

        /// A text that is equal for files with the same columns and dialect, which form one entity.
        var signature: String { section.signature + "\u{1F}" + fields.map(\.name).joined(separator: "\u{1F}") }
    }

    /// The section of a proposed entity, without its patterns.
    struct Section {
        var kind: String
        var delimiter: UInt8?
        var encoding: String?
        var header: [String]?
        var skippedRows = 0
        var records: String?

        var signature: String {
            let names = header?.joined(separator: ",") ?? ""
            return "\(kind) \(delimiter ?? 0) \(encoding ?? "") \(names) \(skippedRows) \(records ?? "")"
        }

        func write(_ patterns: [String], to writer: RecordBatchWriter) {
            writer.key(kind)
            if patterns.count == 1 {
                writer.text(patterns[0])
            } else {
                writer.array { for pattern in patterns { writer.text(pattern) } }
            }
            if let delimiter, delimiter != UInt8(ascii: ",") {
                writer.member("delimiter", delimiter == 9 ? "tab" : String(Unicode.Scalar(delimiter)))
            }
            if let encoding { writer.member("encoding", encoding) }
            if let header {
                writer.key("header")
                writer.array { for name in header { writer.text(name) } }
            }
            if skippedRows > 0 { writer.member("skip_rows", skippedRows) }
            if let records { writer.member("records", records) }
        }
    }

    /// Writes one record per entity, in the form that docs/bridges.md describes under discovery.
    mutating func write(to writer: RecordBatchWriter) throws {
        let (files, folders) = (name("File"), name("Folder"))
        var groups: [(signature: String, samples: [Sample])] = []
        var places: [String: Int] = [:]
        var sampled = 0
        for file in survey.files where sampled < Self.maximumSampled {
            guard let kind = Self.kinds[file.kind], file.size > 0 else { continue }
            sampled += 1
            guard let sample = try self.sample(file, kind) else { continue }
            if let place = places[sample.signature] {
                groups[place].samples.append(sample)
            } else {
                places[sample.signature] = groups.count
                groups.append((sample.signature, [sample]))
            }
        }
        for group in groups { offer(group.samples, groups.flatMap(\.samples), files: files).write(to: writer) }
        offerFiles(files, folders).write(to: writer)
        offerFolders(folders).write(to: writer)
    }

    private static let kinds = [
        "csv": "csv", "tsv": "csv", "tab": "csv", "ndjson": "ndjson", "jsonl": "ndjson", "json": "json", "xml": "xml",
    ]

    private func sample(_ file: ShareSurvey.File, _ kind: String) throws -> Sample? {
        var section = Section(kind: kind)
        var confidence = 0.9
        var notes: [String] = []
        if kind == "csv" {
            let stream = ShareFile(share: share, path: share.url.folder + file.path)
            do {
                let head = try stream.peek()
                let bytes = Packing(head) == .gzip ? try GzipStream(stream).read() ?? [] : head
                let sample = Array(bytes.prefix(DialectGuess.sampleBytes))
                guard let guess = DialectGuess(sample, isWhole: sample.count == head.count) else { return nil }
                section.delimiter = guess.delimiter
                section.encoding = guess.encoding
                section.header = guess.header
                section.skippedRows = guess.skippedRows
                confidence = guess.confidence
                notes = guess.notes
            } catch let failure as SMBFailure where !failure.isOfFile {
                throw share.explain(failure)
            } catch {
                return nil
            }
        }
        var rows = try read(file, section)
        if let paths = rows.records, kind == "json" {
            section.records = paths
            confidence -= 0.1
            notes.append("the rows are those of \(paths)")
            rows = try read(file, section)
        }
        guard rows.count > 0 else { return nil }
        if rows.count < 5 { confidence -= 0.2 }
        return Sample(
            file: file, section: section, fields: rows.fields, rowCount: rows.count, confidence: confidence,
            notes: notes)
    }

    private struct Rows {
        var fields: [ColumnGuess] = []
        var count = 0
        /// The possible paths of the records in a JSON document.
        var records: String?
    }

    /// Reads a file's first rows in the same way as a scan.
    private func read(_ file: ShareSurvey.File, _ section: Section) throws -> Rows {
        let pattern = file.path.map(Self.quoted).joined(separator: "/")
        let options = BridgeOptions { writer in section.write([pattern], to: writer) }
        let request = FetchRequest(entity: "sample", section: options, pageSize: Self.sampleRows)
        let writer = RecordBatchWriter()
        var rows = Rows()
        do {
            let source = try EntitySection.source(request, share: share)
            var page = try source.next(into: writer)
            while !page.isEnd, writer.recordCount < Self.sampleRows, writer.byteCount < FilePaging.batchBytes {
                page = try source.next(into: writer)
            }
            let words = page.rejected.first?.reason.split(separator: "set records to one of: ")
            if let words, words.count == 2 { rows.records = words[1].split(separator: ",").first.map(String.init) }
        } catch let error as BridgeError where [.notFound, .configuration, .malformed].contains(error.code) {
            return rows
        }
        let batch = try writer.finish()
        var places: [String: Int] = [:]
        for index in 0..<batch.count {
            var seen: Set<Int> = []
            for (name, value) in batch[index].members where name != "@path" && name != "@row" && name != "@member" {
                let place = places[name] ?? rows.fields.count
                if places[name] == nil {
                    places[name] = place
                    rows.fields.append(ColumnGuess(name))
                    if index > 0 { rows.fields[place].add(nil) }
                }
                rows.fields[place].add(value)
                seen.insert(place)
            }
            for place in rows.fields.indices where !seen.contains(place) { rows.fields[place].add(nil) }
        }
        rows.count = batch.count
        return rows
    }

    /// Returns the field that identifies rows: one with the name of a key, else the first.
    static func key(_ fields: [ColumnGuess]) -> String? {
        let candidates = fields.filter(\.mayBeKey)
        guard let best = candidates.max(by: { $0.keyRank < $1.keyRank }) else { return nil }
        return best.keyRank > 0 ? candidates.first { $0.keyRank == best.keyRank }?.name : candidates.first?.name
    }

    /// Returns patterns that match these files and none of the others, and a stem for the entity's name.
    func patterns(
        for files: [ShareSurvey.File], beside others: [ShareSurvey.File]
    ) -> (patterns: [String], stem: String) {
        let literal = files.map { $0.path.map(Self.quoted).joined(separator: "/") }
        let stem = files[0].name.split(separator: ".").first.map(String.init) ?? files[0].name
        guard files.count > 1 else { return (literal, stem) }
        let wanted = Set(files.map(\.text))
        let folders = Set(files.map { $0.folder.joined(separator: "/") })
        let ending = String(files[0].name.drop { $0 != "." })
        var prefix = files[0].name
        for file in files { prefix = Self.commonPrefix(prefix, file.name) }
        let isSameName = Set(files.map(\.name)).count == 1
        let own = isSameName ? Self.quoted(files[0].name) : Self.quoted(prefix) + "*" + Self.quoted(ending)
        let word = isSameName ? stem : prefix.contains(where: \.isLetter) ? prefix : files[0].folder.last ?? "Row"
        var candidates: [String] = []
        if folders.count == 1 {
            let folder = files[0].folder.map(Self.quoted).joined(separator: "/")
            let start = folder.isEmpty ? "" : folder + "/"
            candidates = [start + "*" + Self.quoted(ending), start + own]
        } else {
            candidates = ["**/" + own]
        }
        for pattern in candidates {
            guard let matcher = try? PathPattern(pattern) else { continue }
            let matched = Set(others.filter { matcher.matches($0.path) }.map(\.text))
            if matched == wanted { return ([pattern], word) }
        }
        return (literal, word)
    }

    private static func quoted(_ name: String) -> String {
        // A pattern cannot express a literal * or ?; Windows servers do not allow them in names.
        name.map { $0 == "{" ? "{{" : $0 == "}" ? "}}" : $0 == "*" ? "?" : String($0) }.joined()
    }

    private static func commonPrefix(_ first: String, _ second: String) -> String {
        String(zip(first, second).prefix { $0 == $1 }.map(\.0))
    }

    /// Returns a new name for an entity, in the singular if it is obvious.
    mutating func name(_ stem: String) -> String {
        let words = stem.split { !($0.isLetter || $0.isNumber) || !$0.isASCII }
        var name = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        while let last = name.last, last.isNumber { name.removeLast() }
        if name.first?.isLetter != true { name = "Row" }
        if name.hasSuffix("ies"), name.count > 4 {
            name = name.dropLast(3) + "y"
        } else if name.hasSuffix("s"), !name.hasSuffix("ss"), name.count > 3 {
            name.removeLast()
        }
        var candidate = name
        var number = 2
        while !names.insert(candidate).inserted {
            candidate = "\(name)\(number)"
            number += 1
        }
        return candidate
    }
}
