import BridgeKit
import Synchronization

/// The files of a share that match patterns: drives a ``FolderWalk`` with a share, and keeps what a page tells.
final class FileListing {
    enum Step {
        case match(FolderWalk.Match)
        /// A folder was listed: a good moment to look at the clock.
        case listed
        case end
    }

    let share: any Share
    let options: ListingOptions
    /// What the host's cursor said; nil for a walk from the beginning.
    let resumed: WalkCursor?
    /// The members of a record that the host reads; nil is all.
    let fields: Set<String>?
    /// How many records were rejected, or files left out, since the last page.
    var rejectedCount: Int { rejected.count + spared.count }
    /// The states of files that were read; a listing that reads none has no use for them.
    var states: FileStates

    private static let maximumWarnings = 20
    private let question: String
    /// The name of the field that holds a file's path in this listing's records.
    private let pathField: String
    private var warnings: [String] = []
    private var rejected: [Page.Rejected] = []
    private var spared: [Page.Spared] = []
    /// What a later walk has to spare that goes on from here; nil when it is too much.
    private var carried: [WalkCursor.Spared]? = []
    private var walk: FolderWalk
    private var matchCounts: [Int]
    private var matchCount = 0
    private let isCancelled = Atomic<Bool>(false)

    /// - Parameter usesStates: Whether the walk reads files, and so leaves out those that did not move.
    init(
        share: any Share, options: ListingOptions, mode: String, pathField: String, usesStates: Bool,
        request: FetchRequest, queue: ListingQueue? = nil
    ) {
        self.share = share
        self.queue = queue
        self.options = options
        self.pathField = pathField
        question = mode + ":" + options.kinds.rawValue + ":" + options.patterns.question
        resumed = request.cursor.flatMap { [question] in WalkCursor($0, question: question) }
        states = FileStates(token: usesStates ? request.token : nil, question: question, began: share.now)
        self.usesStates = usesStates
        fields = request.fields
        wantsFileIDs = Self.wantsFileIDs(request, usesStates: usesStates)
        walk = FolderWalk(patterns: options.patterns, kinds: options.kinds, from: resumed?.point)
        matchCounts = options.patterns.patterns.map { _ in 0 }
        if request.cursor != nil, resumed == nil {
            warnings.append("the resume point is not one of this pattern: starting from the beginning")
        }
        guard let resumed else { return }
        carried = resumed.spared
        for objects in resumed.spared ?? [] { spare(objects) }
        // What came before the resume point may have been left out as unchanged, which nobody remembers.
        if states.hasEarlier { carried = nil }
        states.wasPartial()
    }

    private let usesStates: Bool
    /// Whether records or states have the ids of files.
    private let wantsFileIDs: Bool
    /// Other processes that list ahead; nil where there are none.
    private let queue: ListingQueue?
    private var expectedCount = 0
    /// Whether other processes were asked for help.
    private var hasHelp = false

    deinit { queue?.stop() }

    /// Ids take time: without a need for them they are left out.
    static func wantsFileIDs(_ request: FetchRequest, usesStates: Bool) -> Bool {
        usesStates || request.fields?.contains("inode") != false
    }

    /// Makes ``next()`` throw; from any thread.
    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    func checkCancelled() throws {
        if isCancelled.load(ordering: .relaxed) {
            throw BridgeError(.cancelled, "the walk was stopped", location: share.url.location([]))
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
            spared = []
        }
        var page = Page(
            cursor: isEnd ? nil : cursor, isPageEnd: true, isEnd: isEnd, isComplete: isEnd && carried != nil,
            location: location, rejected: rejected, warnings: sentences)
        page.spared = spared
        if isEnd, usesStates {
            page.token = states.token
            page.isUnchanged = states.isAllUnchanged
        }
        return page
    }

    /// Notes that a part of a file could not become a record: the file's other records stay what they are.
    func reject(_ reason: String, representation: String, of path: [String]?) {
        rejected.append(Page.Rejected(index: nil, reason: reason, representation: String(representation.prefix(1000))))
        if let path { leaveOut(.path(path)) }
    }

    /// Notes that a file was not looked at, as it did not move.
    func spareUnchanged(_ match: FolderWalk.Match) { spare(.path(match.path)) }

    /// Notes that something was not looked at; a walk that goes on from here says so again.
    private func leaveOut(_ objects: WalkCursor.Spared) {
        if carried?.contains(objects) == true { return }
        spare(objects)
        states.wasPartial()
        carried?.append(objects)
        if let count = carried?.count, count > WalkCursor.maximumSpared { carried = nil }
    }

    private func spare(_ objects: WalkCursor.Spared) {
        switch objects {
        case .path(let path):
            spared.append(Page.Spared(field: pathField, .equals(path.joined(separator: "/"))))
        case .below(let path):
            // The root has no name of its own: then nothing is known at all.
            let prefix = path.isEmpty ? "" : path.joined(separator: "/") + "/"
            spared.append(Page.Spared(field: pathField, .prefix(prefix)))
        }
    }

    /// The resume point after the last match, or nil before the first folder.
    func cursor() -> String? {
        guard let point = walk.point else { return nil }
        // Until the walk has passed the resume point, that one stays, with the rows that it counts.
        if let resumed, resumed.point == point { return resumed.encoded(question: question) }
        return WalkCursor(point: point, spared: carried).encoded(question: question)
    }

    /// The resume point within the last match's file.
    func cursor(inside match: FolderWalk.Match, rows: Int, version: FileVersion) -> String {
        let point = WalkPoint(folder: match.folder, name: match.entry.name, repeatsEntry: true)
        return WalkCursor(point: point, rows: rows, version: version, spared: carried).encoded(question: question)
    }

    func next() throws -> Step {
        try checkCancelled()
        switch walk.next() {
        case .match(let match):
            matchCount += 1
            matchCounts[match.pattern] += 1
            guard matchCount <= options.maximumFiles else {
                throw BridgeError(
                    .limit, "more than \(options.maximumFiles) files match \(options.patterns.text)",
                    remedy: "narrow the pattern or raise max_files", location: share.url.location([]))
            }
            return .match(match)
        case .list(let folder):
            try list(folder)
            warnings += walk.warnings
            walk.warnings = []
            for path in walk.leftOut { leaveOut(.below(path)) }
            walk.leftOut = []
            return .listed
        case .end:
            try noteMissing()
            return .end
        }
    }

    private func noteMissing() throws {
        guard resumed == nil else { return }
        let patterns = options.patterns
        if matchCount == 0, patterns.isLiteral {
            throw BridgeError(
                .notFound, "there is no file \(patterns.text)", remedy: "check the url and the path",
                location: share.url.location([]) + "/" + patterns.text)
        }
        for (pattern, count) in zip(patterns.patterns, matchCounts) where count == 0 {
            let what = options.kinds == .folders ? "folder" : "file"
            warnings.append("no \(what) matches \(pattern.text) in \(share.url.location([]))")
        }
    }

    /// Lets other processes list ahead where there is enough to do for them.
    private func expectMore() {
        guard let queue else { return }
        // Half of the window is looked at again before it is empty.
        expectedCount -= 1
        guard expectedCount < queue.window / 2 else { return }
        let folders = walk.upcoming(queue.window)
        guard expectedCount > 0 || folders.count >= Self.leastFolders else { return }
        if !hasHelp, !share.isFar { queue.isNear() }
        hasHelp = true
        expectedCount = folders.count
        queue.expect(folders.map { share.url.folder + $0 }, fileIDs: wantsFileIDs)
    }

    /// Fewer folders are listed sooner than a process starts.
    private static let leastFolders = 16

    private func list(_ folder: FolderWalk.Folder) throws {
        let path = share.url.folder + folder.path
        do throws(SMBFailure) {
            let listing = try ask(path)
            for name in listing.malformedNames {
                let path = (folder.path + [name]).joined(separator: "/")
                reject("the name is not UTF-8", representation: path, of: nil)
            }
            walk.listed(listing)
            expectMore()
        } catch let failure where folder.depth > 0 && failure.isAccess {
            walk.skipped(because: "may not be listed by this user")
        } catch let failure where folder.depth > 0 && failure.isAbsence {
            walk.skipped(because: "went away during the walk")
        } catch let failure where folder.depth > 0 && folder.isLink {
            walk.skipped(because: "is a link that cannot be followed (\(share.explain(failure).message))")
        } catch {
            throw share.explain(error)
        }
    }
    /// A folder's listing, by whoever has it first; while another process is at it, others that come later are listed.
    private func ask(_ path: [String]) throws(SMBFailure) -> SMBListing {
        while let queue {
            switch queue.take(path) {
            case .listing(let result): return try result.get()
            case .unknown: return try share.list(path, fileIDs: wantsFileIDs)
            case .meanwhile(let other):
                do throws(SMBFailure) {
                    queue.put(other, .success(try share.list(other, fileIDs: wantsFileIDs)))
                } catch  where error.isAccess || error.isAbsence {
                    queue.put(other, .failure(error))
                } catch {
                    // Its own turn will tell; with a connection that is broken the folder that is wanted now tells so.
                    queue.giveBack(other)
                    return try share.list(path, fileIDs: wantsFileIDs)
                }
            }
        }
        return try share.list(path, fileIDs: wantsFileIDs)
    }
}
