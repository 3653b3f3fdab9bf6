import BridgeKit
import Synchronization

/// The files of a share that match a pattern: drives a ``FolderWalk`` with a connection.
final class FileListing {
    enum Step {
        case match(FolderWalk.Match)
        /// A folder was listed: a good moment to look at the clock.
        case listed
        case end
    }

    let connection: SMBConnection
    let url: ShareURL
    let options: ListingOptions
    /// What the host's cursor said; nil for a walk from the beginning.
    let resumed: WalkCursor?
    /// How many records were rejected since the last page.
    var rejectedCount: Int { rejected.count }

    private static let maximumWarnings = 20
    private var warnings: [String] = []
    private var rejected: [Page.Rejected] = []
    private let question: String
    private var walk: FolderWalk
    private var matchCount = 0
    private var listedCount = 0
    private var hasRejected = false
    private let isCancelled = Atomic<Bool>(false)

    init(connection: SMBConnection, url: ShareURL, options: ListingOptions, mode: String, cursor: String?) {
        self.connection = connection
        self.url = url
        self.options = options
        question = mode + (options.includesDirectories ? "+" : "") + ":" + options.pattern.text
        resumed = cursor.flatMap { [question] in WalkCursor($0, question: question) }
        walk = FolderWalk(
            pattern: options.pattern, includesDirectories: options.includesDirectories, from: resumed?.point)
        if cursor != nil, resumed == nil {
            warnings.append("the resume point is not one of this pattern: starting from the beginning")
        }
    }

    /// Makes ``next()`` throw; from any thread.
    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    func checkCancelled() throws {
        if isCancelled.load(ordering: .relaxed) {
            throw BridgeError(.cancelled, "the walk was stopped", location: url.location([]))
        }
    }

    /// Notes what the user should know.
    func warn(_ sentence: String) { warnings.append(sentence) }

    /// The state after the records since the last page.
    func page(cursor: String?, isEnd: Bool, location: String) -> Page {
        var sentences = Array(warnings.prefix(Self.maximumWarnings))
        if warnings.count > sentences.count {
            sentences.append("and \(warnings.count - sentences.count) more warnings on this page")
        }
        defer {
            warnings = []
            rejected = []
        }
        return Page(
            cursor: isEnd ? nil : cursor, isPageEnd: true, isEnd: isEnd,
            isComplete: isEnd && walk.isComplete && !hasRejected, location: location, rejected: rejected,
            warnings: sentences)
    }

    /// Notes that something could not become a record.
    func reject(_ reason: String, representation: String) {
        hasRejected = true
        rejected.append(Page.Rejected(index: nil, reason: reason, representation: String(representation.prefix(1000))))
    }

    /// The resume point after the last match, or nil before the first folder.
    func cursor() -> String? {
        guard let point = walk.point else { return nil }
        // Until the walk has passed the resume point, that one stays, with the rows that it counts.
        if let resumed, resumed.point == point { return resumed.encoded(question: question) }
        return WalkCursor(point: point).encoded(question: question)
    }

    /// The resume point within the last match's file.
    func cursor(inside match: FolderWalk.Match, rows: Int, version: FileVersion) -> String {
        let point = WalkPoint(folder: match.folder, name: match.entry.name, repeatsEntry: true)
        return WalkCursor(point: point, rows: rows, version: version).encoded(question: question)
    }

    func next() throws -> Step {
        try checkCancelled()
        switch walk.next() {
        case .match(let match):
            matchCount += 1
            guard matchCount <= options.maximumFiles else {
                throw BridgeError(
                    .limit, "more than \(options.maximumFiles) files match \(options.pattern.text)",
                    remedy: "narrow the pattern or raise max_files", location: url.location([]))
            }
            return .match(match)
        case .list(let folder):
            try list(folder)
            warnings += walk.warnings
            walk.warnings = []
            return .listed
        case .end:
            if matchCount == 0, resumed == nil {
                guard !options.pattern.isLiteral else {
                    throw BridgeError(
                        .notFound, "there is no file \(options.pattern.text)", remedy: "check the url and the path",
                        location: url.location([]) + "/" + options.pattern.text)
                }
                warnings.append("no file matches \(options.pattern.text) in \(url.location([]))")
            }
            return .end
        }
    }

    private func list(_ folder: FolderWalk.Folder) throws {
        do {
            let listing = try connection.list(url.folder + folder.path)
            for name in listing.malformedNames {
                reject("the name is not UTF-8", representation: (folder.path + [name]).joined(separator: "/"))
            }
            walk.listed(listing)
        } catch let failure where folder.depth > 0 && failure.isAccess {
            walk.skipped(because: "may not be listed by this user")
        } catch let failure where folder.depth > 0 && failure.isAbsence {
            walk.skipped(because: "went away during the walk")
        } catch {
            throw connection.explain(error)
        }
    }
}
