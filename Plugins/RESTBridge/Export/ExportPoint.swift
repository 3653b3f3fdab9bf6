internal import BridgeHTTP
internal import BridgeKit
internal import TextFormats

/// A place in the scan of an export, as the host stores it: `e1.10000.1709251200.5b1f.2.1k-9z.81920-3w JOB`.
struct ExportPoint: Equatable {
    /// The index of the next file, from 0.
    var file: Int
    /// The job's files; nil before it is done.
    var files: ExportFiles?
    /// The number of its rows that were read.
    var rows: Int
    /// The bytes of the file that had arrived then; nil without rows.
    var mark: ByteMark?
    /// Whether no position is within a file, because a file had other bytes when it was requested again.
    var isWhole = false
    /// When the job was created, in seconds since 1970.
    var created: Int64
    /// The digest of the request that created the job, which another configuration or another time changes.
    var digest: String
    /// The job's id, or the URL of its status.
    var job: String

    init(
        file: Int, files: ExportFiles?, rows: Int, mark: ByteMark?, isWhole: Bool, created: Int64, digest: String,
        job: String
    ) {
        self.file = file
        self.files = files
        self.rows = rows
        self.mark = mark
        self.isWhole = isWhole
        self.created = created
        self.digest = digest
        self.job = job
    }

    /// - Returns: nil if the text is not a place in an export, or one of an earlier version, which does not say which
    ///   files it means.
    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].first == "e" else { return nil }
        let members = parts[0].dropFirst().split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard members.count == 7, let file = Int(members[0]), file >= 0, let rows = Int(members[1]), rows >= 0,
            let created = Int64(members[2])
        else { return nil }
        let files = Int(members[4]).flatMap { ExportFiles(count: $0, text: members[5]) }
        let mark = ByteMark(members[6])
        guard rows == 0 || mark != nil, file == 0 && rows == 0 || files != nil else { return nil }
        self.init(
            file: file, files: files, rows: rows, mark: mark, isWhole: members[6] == "w", created: created,
            digest: members[3], job: HTTPURL.decode(String(parts[1])))
    }

    var text: String {
        let files = files.map { "\($0.count).\($0.text)" } ?? "."
        let mark = isWhole ? "w" : mark?.text ?? ""
        return "e\(file).\(rows).\(created).\(digest).\(files).\(mark) \(HTTPURL.encode(job))"
    }

    /// Returns a digest of a request that is the same in every process.
    static func digest(of request: HTTPRequest) -> String {
        var digest = Fingerprint()
        for text in [request.method, request.url, String(decoding: request.body ?? [], as: UTF8.self)] {
            digest.add(text)
            digest.separate()
        }
        return String(digest.value, radix: 16)
    }
}
