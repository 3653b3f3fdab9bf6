internal import BridgeHTTP
internal import BridgeKit
internal import TextFormats

/// A place in the scan of an export, as the host stores it: `e2.10000.1709251200.5b1f.3 JOB`.
struct ExportPoint: Equatable {
    /// The index of the next file, from 0.
    var file: Int
    /// How many files the job has; nil before it is done, and in a position of an earlier version.
    var files: Int?
    /// The number of its rows that were read.
    var rows: Int
    /// When the job was created, in seconds since 1970.
    var created: Int64
    /// The digest of the request that created the job, which another configuration or another time changes.
    var digest: String
    /// The job's id, or the URL of its status.
    var job: String

    init(file: Int, files: Int?, rows: Int, created: Int64, digest: String, job: String) {
        self.file = file
        self.files = files
        self.rows = rows
        self.created = created
        self.digest = digest
        self.job = job
    }

    /// - Returns: nil if the text is not a place in an export.
    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].first == "e" else { return nil }
        let members = parts[0].dropFirst().split(separator: ".", omittingEmptySubsequences: false)
        guard (4...5).contains(members.count), let file = Int(members[0]), file >= 0, let rows = Int(members[1]),
            rows >= 0,
            let created = Int64(members[2])
        else { return nil }
        let files = members.count == 5 ? Int(members[4]) : nil
        guard members.count == 4 || files != nil else { return nil }
        self.init(
            file: file, files: files, rows: rows, created: created, digest: String(members[3]),
            job: HTTPURL.decode(String(parts[1])))
    }

    var text: String {
        let files = files.map { ".\($0)" } ?? ""
        return "e\(file).\(rows).\(created).\(digest)\(files) \(HTTPURL.encode(job))"
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
