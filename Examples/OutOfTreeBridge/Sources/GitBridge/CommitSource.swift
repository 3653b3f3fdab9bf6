import BridgeKit
import CLibGit2
import Synchronization

/// A scan over the history of a commit, parents first, so that a repository that grows only adds at the end.
final class CommitSource: RecordSource {
    private static let pageSize = 500
    private let repository: Repository
    private let scan: OpaquePointer
    private let head: git_oid
    private let isIncremental: Bool
    private var done = 0
    private let isCancelled = Atomic(false)

    /// - Parameters:
    ///   - cursor: `HEAD-ID COUNT`: how many commits of the history of that head are done.
    ///   - token: The head of an earlier scan: what can be reached from it is known.
    init(_ repository: Repository, from revision: String, cursor: String?, token: String?) throws {
        self.repository = repository
        let place = try cursor.map(Self.place)
        head = try repository.resolve(place?.head ?? revision)
        var scan: OpaquePointer?
        try repository.check(git_revwalk_new(&scan, repository.handle), "a scan")
        guard let scan else { throw BridgeError(.internal, "libgit2 could not start the scan") }
        self.scan = scan
        git_revwalk_sorting(scan, GIT_SORT_TOPOLOGICAL.rawValue | GIT_SORT_REVERSE.rawValue)
        var start = head
        isIncremental = token != nil
        try repository.check(git_revwalk_push(scan, &start), "a scan")
        if let token {
            // A head that is gone (a rewritten history) makes this a scan over everything.
            var known = git_oid()
            if git_oid_fromstr(&known, token) == 0 { git_revwalk_hide(scan, &known) }
        }
        var skipped = git_oid()
        for _ in 0..<(place?.count ?? 0) where git_revwalk_next(&skipped, scan) == 0 { done += 1 }
    }

    deinit { git_revwalk_free(scan) }

    private static func place(_ cursor: String) throws -> (head: String, count: Int) {
        let parts = cursor.split(separator: " ")
        guard parts.count == 2, let count = Int(parts[1]), count >= 0 else {
            throw BridgeError(.configuration, "`\(cursor)` is not a resume point", remedy: "start from the beginning")
        }
        return (String(parts[0]), count)
    }

    func next(into writer: RecordBatchWriter) throws -> Page {
        if isCancelled.load(ordering: .relaxed) { throw BridgeError(.cancelled, "cancelled") }
        var isEnd = false
        for _ in 0..<Self.pageSize {
            var id = git_oid()
            guard git_revwalk_next(&id, scan) == 0 else {
                isEnd = true
                break
            }
            try write(id, to: writer)
            done += 1
        }
        var page = Page(
            cursor: isEnd ? nil : "\(head) \(done)", isPageEnd: true, isEnd: isEnd, isComplete: isEnd && !isIncremental,
            location: repository.path)
        if isEnd {
            page.token = head.description
            page.isUnchanged = isIncremental && done == 0
        }
        return page
    }

    private func write(_ id: git_oid, to writer: RecordBatchWriter) throws {
        var id = id
        var commit: OpaquePointer?
        try repository.check(git_commit_lookup(&commit, repository.handle, &id), "reading the commit \(id)")
        defer { git_commit_free(commit) }
        let author = git_commit_author(commit)?.pointee
        writer.object {
            writer.member("id", id.description)
            writer.member("summary", git_commit_summary(commit).map { String(cString: $0) })
            writer.member("message", git_commit_message(commit).map { String(cString: $0) })
            writer.member("author", author?.name.map { String(cString: $0) })
            writer.member("email", author?.email.map { String(cString: $0) })
            writer.member("time", microsecondsSince1970: git_commit_time(commit) * 1_000_000)
            writer.member(
                "parents",
                array: {
                    for index in 0..<git_commit_parentcount(commit) {
                        if let parent = git_commit_parent_id(commit, index) { writer.text(parent.pointee.description) }
                    }
                })
        }
    }

    func cancel() { isCancelled.store(true, ordering: .relaxed) }
}

/// The branches and tags, in one page.
final class ReferenceSource: RecordSource {
    private let repository: Repository

    init(_ repository: Repository) { self.repository = repository }

    func next(into writer: RecordBatchWriter) throws -> Page {
        var names = git_strarray()
        try repository.check(git_reference_list(&names, repository.handle), "listing the references")
        defer { git_strarray_dispose(&names) }
        for index in 0..<names.count {
            guard let text = names.strings[index] else { continue }
            let name = String(cString: text)
            let target = try? repository.resolve(name)
            writer.object {
                writer.member("name", name)
                writer.member("target", target?.description)
                writer.member("is_tag", name.hasPrefix("refs/tags/"))
            }
        }
        return Page(
            isPageEnd: true, isEnd: true, isComplete: true, total: Int64(names.count), location: repository.path)
    }

    func cancel() {}
}
