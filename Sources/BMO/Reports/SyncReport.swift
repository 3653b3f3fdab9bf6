public import BridgeHost
public import Importer

/// The result of a sync.
public struct SyncReport: Sendable {
    /// The result for one entity.
    public struct Entity: Sendable {
        /// The outcome of a scan.
        public enum Outcome: Sendable {
            /// All pages were imported.
            case finished
            /// The scan failed; earlier pages were imported.
            case failed(SyncFailure)
            /// The scan was stopped; earlier pages were imported, and the next sync continues after them.
            case interrupted
            /// The entity has no listing: its objects are nested in others.
            case nested
        }

        /// The entity's name.
        public var name: String
        /// Its bridge's name in the configuration.
        public var bridge: String
        /// The outcome of its scan.
        public var outcome: Outcome
        /// The number of imported pages.
        public var pages: Int
        /// The page after which an interrupted scan was resumed.
        public var resumedAfterPage: Int?
        /// The changes to its objects, including those by other entities' records.
        public var counts: ImportCounts.Entity
        /// The bridge's warnings.
        public var warnings: [String]
        /// The duration of its scan.
        public var duration: Duration
        /// The outcomes of scans per parent; nil where there is one scan.
        public var parents: Parents?
        /// Whether a listing ended incomplete, as a warning says: objects absent from it are not deleted.
        public var isIncomplete = false
    }

    /// The outcomes of scans per parent.
    public struct Parents: Sendable {
        /// A parent whose scan failed.
        public struct Failure: Sendable {
            /// The parent's key as a JSON array.
            public var parent: String
            /// The kind of failure.
            public var code: String
            /// The reason.
            public var failure: SyncFailure
        }

        /// The number of completed scans.
        public var scanned = 0
        /// How many of these the remote reported as unchanged.
        public var unchanged = 0
        /// The number of parents that were not scanned because they have not changed since their last scan.
        public var spared = 0
        /// The number of parents that the remote does not know.
        public var missing = 0
        /// The number of failed scans.
        public var failed = 0
        /// The first of the failures.
        public var failures: [Failure] = []

        /// Creates empty counts.
        public init() {}
    }

    /// The entities, in the order of the configuration.
    public var entities: [Entity]
    /// The duration of the sync.
    public var duration: Duration
    /// Whether it was stopped before its end.
    public var wasInterrupted: Bool
    /// The number of the run in the database; nil when it had nothing to record.
    public var run: Int64?
    /// The part of the scans that was done; nil for all.
    public var shard: SyncShard?
    /// How many conflicts wait for a decision; nil where they were not counted.
    public var conflicts: Int?
    /// The requests that the bridges have reported, by the bridges' names; empty for a bridge that reports none.
    public var requests: [String: RequestCounts] = [:]

    /// Whether there is anything to report: a change, a quarantined record, a failure.
    public var hasNews: Bool {
        !succeeded
            || entities.contains {
                $0.counts.inserted + $0.counts.updated + $0.counts.stubs + $0.counts.relinked + $0.counts.quarantined
                    + $0.counts.deleted > 0
            }
    }

    /// Whether all failures come from the configuration: an unset secret, an option that the bridge rejects.
    public var isMisconfigured: Bool {
        let codes = entities.compactMap { entity -> String? in
            if case .failed(let failure) = entity.outcome { return failure.page == nil ? failure.code : "" }
            return nil
        }
        return !wasInterrupted && !codes.isEmpty && codes.allSatisfy { $0 == "configuration" }
    }

    /// Whether every scan was completed.
    public var succeeded: Bool {
        entities.allSatisfy {
            switch $0.outcome {
            case .finished, .nested: true
            case .failed, .interrupted: false
            }
        }
    }
}
