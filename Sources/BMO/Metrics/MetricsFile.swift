internal import Mapping
internal import Model
internal import StoreContract
internal import SystemCalls
internal import TextFormats

/// The metrics of a database, its syncs and its pushes, and the file that has them, which is replaced atomically.
///
/// Counters continue from the file that exists, so that they grow from one process to the next; without a file, they
/// begin at zero.
package final class MetricsFile: Sendable {
    /// An error for a file that cannot be read or written.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        package let description: String
    }

    private let path: String?
    private let began = MetricsFile.nanoseconds()
    private let version: String
    private let samples: Mutex<MetricSamples>
    /// What other processes had counted before this one began.
    private let before: MetricSamples
    /// The size above which a file was not written by bmo: about 100,000 samples.
    private static let maxBytes = 16 << 20

    /// Opens a file, and writes it again, so that a path that cannot be written is known before any work.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - version: The version of the program.
    /// - Throws: ``Failure``.
    package init(path: String, version: String) throws(Failure) {
        self.path = path
        self.version = version
        before = MetricSamples(from: try Self.read(path))
        samples = Mutex(before)
        try write()
    }

    /// Creates metrics without a file.
    package init(version: String) {
        path = nil
        self.version = version
        before = MetricSamples()
        samples = Mutex(before)
    }

    private static func read(_ path: String) throws(Failure) -> String {
        do {
            return String(decoding: try BoundedFile.read(path, limit: maxBytes, kind: .regular), as: UTF8.self)
        } catch {
            switch error {
            case .unopenable(let number) where number == AtomicFile.Failure.missing: return ""
            case .unopenable(let number), .unreadable(let number):
                throw Failure(description: "\(path): \(AtomicFile.Failure(number: number).words)")
            case .irregular: throw Failure(description: "\(path) is not a regular file")
            case .tooLarge: throw Failure(description: "\(path) is larger than 16 MiB, and not a file of metrics")
            case .invalidPath, .silent: throw Failure(description: "\(path) cannot be read")
            }
        }
    }

    private func write() throws(Failure) {
        // Written within the lock, so that the file never returns to an older state.
        let failure = samples.withLock { samples -> AtomicFile.Failure? in
            samples.set(.build, 1, ["version": version])
            guard let path else { return nil }
            do throws(AtomicFile.Failure) {
                try AtomicFile.write(Array(samples.text.utf8), to: path, mode: 0o644)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw Failure(description: "\(path ?? ""): \(failure.words)") }
    }

    /// Returns the metrics as a request of OTLP in its JSON form; its counters are those of this process.
    ///
    /// - Parameter resource: What describes this program, with its `service.name`.
    package func otlp(resource: [(name: String, value: String)]) -> String {
        samples.withLock {
            $0.subtracting(before)
                .otlp(resource: resource, version: version, since: began, now: Self.nanoseconds())
        }
    }

    /// The nanoseconds since 1970.
    private static func nanoseconds() -> Int64 { (Timestamp.microseconds(Clock.now()) ?? 0) * 1000 }

    /// Adds the result of a sync, and writes the file with the present state of the database.
    ///
    /// - Throws: ``Failure``; ``StoreError`` if the database cannot be read.
    package func note(_ report: SyncReport, _ store: any Store) throws {
        count(report)
        try writeState(of: store)
    }

    /// Adds the result of a push, and writes the file with the present state of the database.
    ///
    /// - Throws: ``Failure``; ``StoreError`` if the database cannot be read.
    package func note(_ report: PushReport, _ store: any Store) throws {
        count(report)
        try writeState(of: store)
    }

    /// Adds a sync that failed before it had a report, and writes the file with the last known state of the database.
    ///
    /// A sync that another process keeps from the database does not count, as it did not begin, nor does an invalid
    /// request.
    ///
    /// - Parameter failure: Why it failed, such as a database that cannot be opened.
    /// - Throws: ``Failure``.
    package func note(failedSync failure: any Error) throws {
        if count(failedSync: failure) { try write() }
    }

    /// Adds a sync that failed before it had a report, without writing the file.
    ///
    /// - Returns: Whether it counts.
    @discardableResult
    package func count(failedSync failure: any Error) -> Bool {
        if failure is CancellationError { return false }
        if let error = failure as? StoreError, [.busy, .request].contains(error.code) { return false }
        samples.withLock { $0.add(.failures, 1, ["code": SyncFailure.code(of: failure)]) }
        return true
    }

    /// Adds the result of a sync, without writing the file.
    package func count(_ report: SyncReport) { samples.withLock { $0.add(report) } }

    /// Adds the result of a push, without writing the file.
    package func count(_ report: PushReport) { samples.withLock { $0.add(report) } }

    private func writeState(of store: any Store) throws {
        var state = MetricSamples()
        let entities = try state.setState(of: store)
        samples.withLock { samples in
            samples.removeState()
            samples.keep(entities: entities)
            samples.merge(state)
        }
        try write()
    }
}

extension MetricsFile {
    /// Returns the metrics in the format of the file, with the database's present state.
    ///
    /// - Parameter cursors: The cursors of the entities' own scans, in the order of the entities.
    package func text(
        _ entities: [EntityStatus], cursors: [ScanCursor?], _ edits: [OutboxEntry], conflicts: Int
    ) -> String {
        var samples = samples.withLock { $0 }
        samples.removeState()
        samples.set(.build, 1, ["version": version])
        samples.setState(entities, cursors: cursors, edits, conflicts: conflicts, now: Clock.now())
        return samples.text
    }
}

extension MetricSamples {
    /// Adds the result of a push.
    mutating func add(_ report: PushReport) {
        for kind in EditOutcome.Kind.allCases { add(.pushed, report.count(kind), ["outcome": kind.rawValue]) }
        add(report.requests)
    }

    /// Adds the result of a sync.
    mutating func add(_ report: SyncReport) {
        add(report.requests)
        // An alert sees the increase from 0, but not the first sample of a series.
        add(.failures, 0, ["code": "database"])
        let now = Timestamp.microseconds(Clock.now()) ?? 0
        for entity in report.entities {
            let labels: KeyValuePairs = ["entity": entity.name]
            let counts = entity.counts
            add(.records, counts.inserted + counts.updated + counts.unchanged + counts.quarantined, labels)
            for (change, count) in [
                ("inserted", counts.inserted), ("updated", counts.updated), ("deleted", counts.deleted),
                ("relinked", counts.relinked),
            ] {
                add(.changes, count, ["entity": entity.name, "change": change])
            }
            // Its objects are nested in others.
            if case .nested = entity.outcome { continue }
            set(.syncDuration, entity.duration / .seconds(1), labels)
            set(.incomplete, entity.isIncomplete ? 1 : 0, labels)
            add(.failures, 0, ["entity": entity.name, "code": "authentication"])
            var isHeld = false
            switch entity.outcome {
            case .finished: set(.lastSuccess, Double(now / 1000) / 1000, labels)
            case .failed(let failure):
                isHeld = failure.code == SyncFailure.deletionsHeld
                add(.failures, 1, ["entity": entity.name, "code": failure.code])
            case .interrupted: add(.failures, 1, ["entity": entity.name, "code": "interrupted"])
            case .nested: break
            }
            set(.deletionsHeld, isHeld ? 1 : 0, labels)
        }
    }

    /// Sets the metrics of the database's present state.
    ///
    /// - Returns: The names of its entities.
    /// - Throws: ``StoreError``.
    @discardableResult
    mutating func setState(of store: any Store) throws -> Set<String> {
        let (entities, edits, conflicts) = (try store.status(), try store.outbox(), try store.conflicts().count)
        let cursors = try entities.map { try store.cursor(of: ScanScope(entity: $0.name)) }
        setState(entities, cursors: cursors, edits, conflicts: conflicts, now: Clock.now())
        return Set(entities.map(\.name))
    }

    fileprivate mutating func setState(
        _ entities: [EntityStatus], cursors: [ScanCursor?], _ edits: [OutboxEntry], conflicts: Int, now: String
    ) {
        func age(_ moment: String) -> Double? {
            guard let moment = Timestamp.microseconds(moment), let now = Timestamp.microseconds(now) else { return nil }
            return Double(max(0, now - moment) / 1000) / 1000
        }
        for (entity, cursor) in zip(entities, cursors) {
            let labels: KeyValuePairs = ["entity": entity.name]
            set(.rows, Double(entity.rows), labels)
            set(.stubs, Double(entity.stubs), labels)
            set(.quarantined, Double(entity.quarantined), labels)
            if let newest = cursor?.newest, let age = age(newest.local.description) { set(.cursorAge, age, labels) }
        }
        for state in OutboxEntry.State.allCases {
            set(.outbox, Double(edits.count { $0.state == state }), ["state": state.rawValue])
        }
        set(.oldestEdit, edits.map(\.created).min().flatMap(age) ?? 0)
        set(.conflicts, Double(conflicts))
    }
}
