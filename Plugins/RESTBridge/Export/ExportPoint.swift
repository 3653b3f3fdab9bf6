internal import BridgeHTTP
internal import BridgeKit
internal import TextFormats

/// A place in the scan of an export, as the host stores it: `e2.10000.1709251200.5b1f JOB`.
struct ExportPoint: Equatable {
    /// The index of the next file, from 0.
    var file: Int
    /// The number of its rows that were read.
    var rows: Int
    /// When the job was created, in seconds since 1970.
    var created: Int64
    /// The digest of the request that created the job, which another configuration or another time changes.
    var digest: String
    /// The job's id, or the URL of its status.
    var job: String

    init(file: Int, rows: Int, created: Int64, digest: String, job: String) {
        self.file = file
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
        guard members.count == 4, let file = Int(members[0]), file >= 0, let rows = Int(members[1]), rows >= 0,
            let created = Int64(members[2])
        else { return nil }
        self.init(
            file: file, rows: rows, created: created, digest: String(members[3]), job: HTTPURL.decode(String(parts[1])))
    }

    var text: String { "e\(file).\(rows).\(created).\(digest) \(HTTPURL.encode(job))" }

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
