import BridgeKit
import SystemCalls

/// The files of a share that match patterns: drives a ``FolderWalk`` with a share, and collects the state for each
/// page.
final class FileListing {
    enum Step {
        case match(FolderWalk.Match)
        /// A folder was listed: a good moment to check the time.
        case listed
        case end
    }

    let share: any Share
    let options: ListingOptions
    /// The decoded cursor of the host; nil for a scan from the beginning.
    let resumed: ShareCursor?
    /// The members of a record that the host reads; nil means all.
    let fields: Set<String>?
    /// The paths of the key in a record; see ``FetchRequest/keyPaths``.
    let keyPaths: [String]
    /// The number of records rejected, or files skipped, since the last page.
    var rejectedCount: Int { rejected.count + skipped.count }
    /// The states of files that were read; unused in a listing that does not read files.
    var states: FileStates

    private static let maximumWarnings = 20
    private let question: String
    /// The field with a file's path in this listing's records.
    private let pathField: String
    private var warnings: [String] = []
    private var rejected: [Page.Rejected] = []
    private var skipped: [Page.Skipped] = []
    /// The objects that a resumed scan must spare; nil if there are too many.
    private var carried: [ShareCursor.Skipped]? = []
    private var scan: FolderWalk
    private var matchCounts: [Int]
    private var matchCount = 0
    private var hasSkippedUnchanged = false
    private let isCancelled = Mutex(false)

    /// - Parameter usesStates: Whether the scan reads files, and can therefore skip unchanged ones.
    init(
        share: any Share, options: ListingOptions, mode: String, pathField: String, usesStates: Bool,
        request: FetchRequest, queue: ListingQueue? = nil
    ) {
        self.share = share
        self.queue = queue
        self.options = options
        self.pathField = pathField
        question = mode + ":" + options.kinds.rawValue + ":" + options.patterns.question
        resumed = request.cursor.flatMap { [question] in ShareCursor($0, question: question) }
        states = FileStates(token: usesStates ? request.token : nil, question: question, began: share.now)
        self.usesStates = usesStates
        fields = request.fields
        keyPaths = request.keyPaths
        wantsFileIDs = Self.wantsFileIDs(request, usesStates: usesStates)
        scan = FolderWalk(patterns: options.patterns, kinds: options.kinds, from: resumed?.point)
        matchCounts = options.patterns.patterns.map { _ in 0 }
        if request.cursor != nil, resumed == nil {
            warnings.append("the resume point is not one of this pattern: starting from the beginning")
        }
        guard let resumed else { return }
        carried = resumed.skipped
        for objects in resumed.skipped ?? [] { skip(objects) }
        // Files before the resume point may have been skipped as unchanged, and the cursor does not list them.
        if states.hasEarlier { carried = nil }
    }

    private let usesStates: Bool
    /// Whether records or states contain file ids.
    private let wantsFileIDs: Bool
    /// Helper processes that list ahead; nil if there are none.
    private let queue: ListingQueue?
    private var expectedCount = 0
    /// Whether the helper processes have been used.
    private var hasHelp = false

    deinit { queue?.stop() }

    /// Whether file ids are needed: they take time, and are omitted otherwise.
    static func wantsFileIDs(_ request: FetchRequest, usesStates: Bool) -> Bool {
        usesStates || request.fields?.contains("inode") != false
    }

    /// Makes ``next()`` throw; may be called from any thread.
    func cancel() {
        isCancelled.withLock { $0 = true }
        // The scan may be waiting for a helper.
        queue?.stop()
    }

    func checkCancelled() throws {
        if isCancelled.withLock({ $0 }) {
            throw BridgeError(.cancelled, "the scan was stopped", location: share.url.location([]))
        }
    }

    /// Adds a warning for the user.
    func warn(_ sentence: String) { warnings.append(sentence) }

    /// Returns the state after the records since the last page.
    func page(cursor: String?, isEnd: Bool, location: String) -> Page {
        var sentences = Array(warnings.prefix(Self.maximumWarnings))
        if warnings.count > sentences.count {
            sentences.append("and \(warnings.count - sentences.count) more warnings on this page")
        }
        defer {
            warnings = []
            rejected = []
            skipped = []
        }
        var page = Page(
            cursor: isEnd ? nil : cursor, isPageEnd: true, isEnd: isEnd, isComplete: isEnd && carried != nil,
            location: location, rejected: rejected, warnings: sentences)
        page.skipped = skipped
        if isEnd, usesStates {
            page.token = states.token(deletes: page.isComplete)
            // Never `isUnchanged`: the token need not be that of the last scan, whose rows may be those of a file that has
            // gone since. The host finds them as missing.
            page.isPositional = page.isComplete && hasSkippedUnchanged && !keyNamesFile
            // Two files that have an object do not take the place of others.
            page.repeatsObjects = !keyNamesFile
        }
        return page
    }

    /// Records that part of a file could not become a record; the file's other records stay unchanged.
    ///
    /// - Parameter path: nil for a file whose path cannot be written, so that the host deletes nothing.
    func reject(_ reason: String, representation: String, of path: [String]?) {
        rejected.append(Page.Rejected(index: nil, reason: reason, representation: String(representation.prefix(1000))))
        if let path { leaveOut(.path(path)) }
    }

    /// Records that an unchanged file was skipped.
    func skipUnchanged(_ match: FolderWalk.Match) {
        hasSkippedUnchanged = true
        skip(.path(match.path))
    }

    /// Whether no two files can have the same object.
    ///
    /// Otherwise an object that this scan lacks may be in a file that was skipped: the database knows only the file that
    /// was read last.
    private var keyNamesFile: Bool {
        keyPaths.contains(pathField) || pathField == "path" && keyPaths.contains { ["path_key", "inode"].contains($0) }
    }

    /// Records skipped objects, for this scan and for one that resumes from here.
    private func leaveOut(_ objects: ShareCursor.Skipped) {
        if carried?.contains(objects) == true { return }
        skip(objects)
        // A file that was left out has no state.
        if case .below(let folder) = objects { states.leaveOut(folder) }
        carried?.append(objects)
        if let count = carried?.count, count > ShareCursor.maxSkipped { carried = nil }
    }

    private func skip(_ objects: ShareCursor.Skipped) {
        switch objects {
        case .path(let path):
            skipped.append(Page.Skipped(field: pathField, .equals(path.joined(separator: "/"))))
        case .below(let path):
            // The root has no name of its own: spare everything.
            let prefix = path.isEmpty ? "" : path.joined(separator: "/") + "/"
            skipped.append(Page.Skipped(field: pathField, .prefix(prefix)))
        }
    }

    /// Returns the resume point after the last match, or nil before the first folder.
    func cursor() -> String? {
        guard let point = scan.point else { return nil }
        // Keep the earlier resume point, with its row count, until the scan has passed it.
        if let resumed, resumed.point == point { return resumed.encoded(question: question) }
        return ShareCursor(point: point, skipped: carried).encoded(question: question)
    }

    /// Returns the resume point within the last match's file.
    func cursor(inside match: FolderWalk.Match, rows: Int, version: FileVersion) -> String {
        let point = ScanPoint(folder: match.folder, name: match.entry.name, repeatsEntry: true)
        return ShareCursor(point: point, rows: rows, version: version, skipped: carried).encoded(question: question)
    }

    func next() throws -> Step {
        try checkCancelled()
        switch scan.next() {
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
            // Do not count a listing that was given up.
            try checkCancelled()
            warnings += scan.warnings
            scan.warnings = []
            for path in scan.leftOut { leaveOut(.below(path)) }
            scan.leftOut = []
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

    /// Lets helper processes list ahead if there are enough folders.
    private func expectMore() {
        guard let queue else { return }
        // Extend the window once it is half empty.
        expectedCount -= 1
        guard expectedCount < queue.window / 2 else { return }
        let folders = scan.upcoming(queue.window)
        guard expectedCount > 0 || folders.count >= Self.leastFolders else { return }
        if !hasHelp, !share.isFar { queue.isNear() }
        hasHelp = true
        expectedCount = folders.count
        queue.expect(folders.map { share.url.folder + $0 }, fileIDs: wantsFileIDs)
    }

    /// Listing fewer folders takes less time than starting a process.
    private static let leastFolders = 16

    private func list(_ folder: FolderWalk.Folder) throws {
        let path = share.url.folder + folder.path
        do throws(SMBFailure) {
            let listing = try ask(path)
            for name in listing.malformedNames {
                let path = (folder.path + [name]).joined(separator: "/")
                reject("the name is not UTF-8", representation: path, of: nil)
            }
            scan.listed(listing)
            expectMore()
        } catch {
            let failure = share.confirmed(error)
            guard let reason = self.reason(toLeaveOut: folder, after: failure) else { throw share.explain(failure) }
            scan.skipped(because: reason)
        }
    }

    /// Returns why the scan goes on without a folder; nil if it cannot.
    private func reason(toLeaveOut folder: FolderWalk.Folder, after failure: SMBFailure) -> String? {
        guard folder.depth > 0, failure.action != .openShare else { return nil }
        if failure.isAccess { return "may not be listed by this user" }
        if failure.isAbsence { return "disappeared during the scan" }
        if failure.isOfListedName { return "cannot be listed (\(SMBFailure.refusedNameWords))" }
        guard folder.isLink else { return nil }
        return "is a link that cannot be followed (\(share.explain(failure).message))"
    }

    /// Returns a folder's listing from whichever source has it first; lists later folders while a helper process lists
    /// this one.
    ///
    /// Returns an empty one, without asking the server, once the scan is cancelled.
    private func ask(_ path: [String]) throws(SMBFailure) -> SMBListing {
        while let queue {
            switch queue.take(path) {
            case .listing(let result): return try result.get()
            case .unknown where isCancelled.withLock({ $0 }): return SMBListing()
            case .unknown: return try share.list(path, fileIDs: wantsFileIDs)
            case .meanwhile(let other):
                do throws(SMBFailure) {
                    queue.put(other, .success(try share.list(other, fileIDs: wantsFileIDs)))
                } catch  where error.isAccess || error.isAbsence || error.isOfListedName {
                    queue.put(other, .failure(error))
                } catch {
                    // It fails again in its own turn; if the connection is broken, listing the wanted folder reports
                    // it.
                    queue.giveBack(other)
                    return try share.list(path, fileIDs: wantsFileIDs)
                }
            }
        }
        return try share.list(path, fileIDs: wantsFileIDs)
    }
}
