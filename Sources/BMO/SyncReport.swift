public import Importer

/// What a sync did.
public struct SyncReport: Sendable {
    /// What it did for one entity.
    public struct Entity: Sendable {
        /// How a walk ended.
        public enum Outcome: Sendable {
            /// All pages are in.
            case finished
            /// Something failed; the pages before are in.
            case failed(SyncFailure)
            /// It was stopped; the pages before are in, and the next sync goes on after them.
            case interrupted
            /// Nothing was fetched for it: its objects came nested in others.
            case nested
        }

        /// The entity's name.
        public var name: String
        /// The config's name of its bridge.
        public var bridge: String
        /// How its walk ended.
        public var outcome: Outcome
        /// Pages that were imported.
        public var pages: Int
        /// The page after which an interrupted walk was taken up again.
        public var resumedAfterPage: Int?
        /// What was done to its objects, also by other entities' records.
        public var counts: ImportCounts.Entity
        /// What the bridge wanted to be known.
        public var warnings: [String]
        /// How long its walk took.
        public var duration: Duration
        /// What became of the walks per parent; nil where there is one walk.
        public var parents: Parents?
        /// Whether a listing came to its end without being whole, as a warning says: nothing absent from it is deleted.
        public var isIncomplete = false
    }

    /// What became of walks per parent.
    public struct Parents: Sendable {
        /// A parent whose walk failed.
        public struct Failure: Sendable {
            /// The parent's key as a JSON array.
            public var parent: String
            /// The kind of failure.
            public var code: String
            /// Why it failed.
            public var failure: SyncFailure
        }

        /// Parents whose walk came to its end.
        public var walked = 0
        /// Of these, parents of which the remote says that nothing moved.
        public var unchanged = 0
        /// Parents that the remote does not know.
        public var missing = 0
        /// Parents whose walk failed.
        public var failed = 0
        /// The first of the failures.
        public var failures: [Failure] = []

        /// None yet.
        public init() {}
    }

    /// In the order of the configuration.
    public var entities: [Entity]
    /// How long all of it took.
    public var duration: Duration
    /// Whether it was stopped before its end.
    public var wasInterrupted: Bool
    /// The number under which the database keeps what it did; nil when there was nothing to tell.
    public var run: Int64?
    /// How many conflicts wait for a decision; nil where nobody looked.
    public var conflicts: Int?

    /// Whether there is anything to tell: a change, a record in quarantine, a failure.
    public var hasNews: Bool {
        !succeeded
            || entities.contains {
                $0.counts.inserted + $0.counts.updated + $0.counts.stubs + $0.counts.relinked + $0.counts.quarantined
                    + $0.counts.deleted > 0
            }
    }

    /// Whether all that failed did so for the configuration's sake: an unset secret, an option that the bridge refuses.
    public var isMisconfigured: Bool {
        let codes = entities.compactMap { entity -> String? in
            if case .failed(let failure) = entity.outcome { return failure.page == nil ? failure.code : "" }
            return nil
        }
        return !wasInterrupted && !codes.isEmpty && codes.allSatisfy { $0 == "configuration" }
    }

    /// Whether every walk came to its end.
    public var succeeded: Bool {
        entities.allSatisfy {
            switch $0.outcome {
            case .finished, .nested: true
            case .failed, .interrupted: false
            }
        }
    }
}

/// Why the walk of an entity ended early.
public struct SyncFailure: Error, Sendable, CustomStringConvertible {
    /// The entity.
    public var entity: String
    /// The config's name of its bridge.
    public var bridge: String
    /// The page that failed, from 1; nil when it did not come to pages.
    public var page: Int?
    /// The kind of failure, as a word: of the bridge (`authentication`, `timeout`, ...), of the store or of the config.
    public var code: String
    /// What failed, on which thing.
    public var message: String
    /// What the user can do about it.
    public var remedy: String?
    /// The URL or path, without secrets.
    public var location: String?
    /// The remote's own words.
    public var remote: String?

    /// The failure on one line.
    public var description: String {
        var text = "\(entity) (bridge \(bridge)\(page.map { ", page \($0)" } ?? "")): \(code): \(message)"
        if let location, !message.contains(location) { text += " at \(location)" }
        if let remote { text += "; the remote says: \(remote)" }
        if let remedy { text += "; \(remedy)" }
        return text
    }
}

/// What happens during a sync, for progress.
public enum SyncEvent: Sendable {
    /// The walk of an entity begins, after so many pages of an interrupted one.
    case began(entity: String, bridge: String, resumedAfterPage: Int?)
    /// A page is in.
    case page(PageEvent)
    /// The bridge wants something to be known.
    case warning(entity: String, message: String)
    /// What a bridge found out by itself, such as how a listing goes on; once per entity.
    case note(entity: String, message: String)
    /// The walk of an entity is over.
    case ended(SyncReport.Entity)

    /// Where a walk stands.
    public struct PageEvent: Sendable {
        /// The entity.
        public var entity: String
        /// The page's number, from 1.
        public var page: Int
        /// Records that were seen in this walk.
        public var records: Int
        /// How many records the remote says there are.
        public var total: Int64?
        /// What this walk did to the entity's objects.
        public var counts: ImportCounts.Entity
        /// Since the walk began.
        public var elapsed: Duration
    }
}
