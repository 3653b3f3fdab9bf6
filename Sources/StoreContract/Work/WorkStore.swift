public import Model

/// A store whose sync several processes on several machines share: each works on units of a round, and what it writes
/// counts only while its claim does.
///
/// The order: ``joinRound(_:as:)`` until it returns a round; then ``claimUnit()`` again and again. With a claimed unit, all
/// transactions of this store first check the claim, in the transaction itself, until ``endUnit(_:keeping:adding:)`` or
/// ``releaseUnit()``. ``renewLease()`` is called at intervals from another thread, in the middle of a page too. A store has
/// one unit at a time; a process that works on several opens several stores.
///
/// ```swift
/// guard try store.joinRound(plan, as: worker) else { return }
/// while case .unit(let unit) = try store.claimUnit() {
///     let result = await scan(unit)
///     try store.endUnit(result, keeping: nil, adding: [])
/// }
/// try store.leave()
/// ```
///
/// Errors are ``StoreError``; once another worker has taken the unit over, every transaction throws one of the code
/// `superseded` and is rolled back. All calls but ``renewLease()`` and
/// ``renewLimits(places:lowering:)`` come from one thread at a time.
public protocol WorkStore: AnyObject, Sendable {
    /// Joins the open round, or begins one if it is due, and says that this worker is alive.
    ///
    /// - Parameters:
    ///   - plan: The units that a round begins with.
    ///   - worker: How this worker describes itself.
    /// - Returns: False if the last round ended too short a time ago.
    /// - Throws: `busy` if other workers are in a round of another plan.
    func joinRound(_ plan: [WorkUnit], as worker: WorkerDescription) throws -> Bool

    /// Claims a unit that nothing keeps from being worked on, or that a dead worker had.
    func claimUnit() throws -> WorkBoard.Step

    /// Ends the claimed unit; what the ranges of parents have found missing is kept for the end of their scan.
    ///
    /// - Parameters:
    ///   - result: The result, a JSON object.
    ///   - entity: The index of the entity whose missing rows are kept; nil for none.
    ///   - units: The units that it was divided into.
    func endUnit(_ result: String, keeping entity: Int?, adding units: [WorkUnit]) throws

    /// Gives the claimed unit back; another worker goes on after the last page.
    func releaseUnit() throws

    /// Says that the worker is alive, from any thread and without waiting for open pages; does nothing before the worker
    /// has joined a round.
    func renewLease() throws

    /// Renews this worker's part of the limits that all workers share, from any thread and without waiting for open pages;
    /// returns no part before the worker has joined a round.
    ///
    /// - Parameters:
    ///   - places: The most workers that can have a part; nil for any number.
    ///   - lowering: Makes the part smaller in this process, before others can have what it gives up; returns whether the
    ///     requests that are running fit it. If not, the others get it after a later call.
    func renewLimits(places: Int?, lowering: (Int) -> Bool) throws -> LimitPart

    /// Forgets the worker, after the units of all its stores have ended or been given back.
    func leave() throws

    /// Returns the board as it is; nil if there has not been a round.
    func workBoard() throws -> WorkBoard?

    /// Returns the results of a group's ended units, in the order of the units; nil for all groups.
    func results(of group: String?) throws -> [(unit: WorkUnit, result: String)]

    /// Returns row numbers that divide the parents of a scan evenly, in order: the last row of each part.
    ///
    /// - Parameters:
    ///   - entity: The entity of the parents.
    ///   - conditions: As for ``ParentStore/parents(of:where:after:limit:)``.
    ///   - size: The least number of parents of a part.
    ///   - count: The greatest number of parts.
    func parentBounds(
        of entity: Int, where conditions: [LocalCondition], size: Int, atMost count: Int
    ) throws -> [Int64]

    /// Begins the end of a scan by parents with what its ranges have found missing, for
    /// ``ScanTransaction/finishParents(of:_:)``.
    ///
    /// Rows that have moved to another parent since, in whatever range, are not missing.
    ///
    /// - Parameters:
    ///   - entity: The entity's index in the model.
    ///   - relationship: The index of the relationship to the parent.
    ///   - group: The group of the ranges, which share a scan.
    func gatherParents(of entity: Int, relationship: Int?, group: String) throws
}

/// How a worker describes itself, and for how long the others believe that it is alive.
public struct WorkerDescription: Sendable, Equatable {
    /// A random text, the same for all stores of a process.
    public var id: String
    /// Command, process and host, for people; no secrets.
    public var name: String
    /// How long others wait after the last ``WorkStore/renewLease()`` before they take its units.
    public var lease: Duration
    /// How long after the end of a round the next one is due.
    public var pause: Duration

    /// Creates a description.
    public init(id: String, name: String, lease: Duration, pause: Duration) {
        self.id = id
        self.name = name
        self.lease = lease
        self.pause = pause
    }
}
