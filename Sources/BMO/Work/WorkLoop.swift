internal import BridgeHost
internal import Importer
internal import Mapping
internal import StoreContract

/// One of a worker's loops: it claims a unit, works on it, and repeats.
struct WorkLoop: Sendable {
    let workspace: Workspace
    let store: any Store
    /// The same store as `store`.
    let shared: any WorkStore
    let connections: Connections
    let options: WorkOptions
    let worker: WorkerDescription
    /// The limits that all workers share, if there are any.
    let limits: SharedLimits?
    let plan: [WorkUnit]
    let report: @Sendable (WorkEvent) -> Void
    private let thread = ImportThread()

    init(
        workspace: Workspace, store: any Store, shared: any WorkStore, connections: Connections, options: WorkOptions,
        worker: WorkerDescription, limits: SharedLimits?, plan: [WorkUnit],
        report: @escaping @Sendable (WorkEvent) -> Void
    ) {
        self.workspace = workspace
        self.store = store
        self.shared = shared
        self.connections = connections
        self.options = options
        self.worker = worker
        self.limits = limits
        self.plan = plan
        self.report = report
    }

    /// How often in a row the loop may fail before the worker gives up.
    ///
    /// Its supervisor, such as systemd, then restarts it with new connections and a new lock.
    private static let mostFailures = 8

    /// Works until the task is cancelled or, with `untilIdle`, until the round is over.
    ///
    /// - Returns: The report of the last round; nil if none was due.
    /// - Throws: ``StoreError`` if the database cannot be used; `ChangedTables` if its tables were changed meanwhile.
    func run() async throws -> SyncReport? {
        var last: SyncReport?
        var failures = 0
        while !Task.isCancelled {
            do {
                if try await thread.run({ [shared, plan, worker] in try shared.joinRound(plan, as: worker) }) {
                    try await workOnUnits()
                    var ended = try await thread.run { [workspace, shared] in try workspace.roundReport(in: shared) }
                    ended.requests = await connections.takeRequests()
                    report(.round(ended))
                    last = ended
                    if options.untilIdle { break }
                } else if options.untilIdle {
                    break
                } else {
                    try await Task.sleep(for: min(options.every, .seconds(1)))
                }
                failures = 0
            } catch is CancellationError {
                break
            } catch let error as StoreError where [.busy, .io].contains(error.code) {
                failures += 1
                guard failures < Self.mostFailures else { throw error }
                report(.trouble(error.description))
                try? await Task.sleep(for: Backoff.pause(afterFailures: failures, longest: .seconds(60)))
            } catch let error as StoreError where error.code == .schema {
                throw ChangedTables(reason: error)
            }
        }
        return last
    }

    /// Renews the worker's lease at intervals.
    func beat() async {
        let thread = ImportThread(label: "bmo.lease")
        while !Task.isCancelled {
            try? await Task.sleep(for: options.lease / 3)
            guard !Task.isCancelled else { return }
            do {
                try await thread.run { [shared] in try shared.renewLease() }
            } catch {
                report(.trouble("could not renew the lease: \(error)"))
            }
        }
    }

    /// Renews the worker's part of the limits, at the intervals in which others should get what it gives up.
    func divide(_ limits: SharedLimits) async {
        let thread = ImportThread(label: "bmo.limits")
        while !Task.isCancelled {
            do {
                try await thread.run { [shared] in try limits.renew(in: shared) }
            } catch {
                report(.trouble("the part of the limits was not renewed: \(error)"))
            }
            try? await Task.sleep(for: limits.hasPart ? min(options.lease / 3, .seconds(1)) : .milliseconds(200))
        }
    }

    private func workOnUnits() async throws {
        var waits = 0
        while true {
            try Task.checkCancellation()
            // A unit of a worker that may not make requests would not get on.
            if let limits, !limits.hasPart {
                guard try await thread.run({ [shared] in try shared.workBoard()?.isOpen }) == true else { return }
                try await Task.sleep(for: .milliseconds(100))
                continue
            }
            switch try await thread.run({ [shared] in try shared.claimUnit() }) {
            case .over: return
            case .wait:
                // Often another worker is about to end a unit; where it is not, many workers should not ask all the time.
                waits += 1
                try await Task.sleep(
                    for: Backoff.pause(afterFailures: waits, first: .milliseconds(25), longest: .milliseconds(300)))
            case .unit(let unit):
                waits = 0
                try await work(on: unit)
            }
        }
    }

    private func work(on unit: WorkUnit) async throws {
        report(.claimed(unit: unit.name, claims: unit.claims))
        let context = SyncContext(
            workspace: workspace, store: store, connections: connections, thread: thread, gate: PageGate(),
            options: Workspace.SyncOptions(), report: { [report] in report(.sync($0)) })
        do {
            let result = try await UnitWork(unit: unit, context: context, shared: shared).run()
            report(.ended(unit: unit.name, result?.report))
        } catch let error as StoreError where error.code == .superseded {
            report(.superseded(unit: unit.name))
        } catch {
            _ = try? await thread.run { [shared] in try shared.releaseUnit() }
            throw error
        }
    }
}
