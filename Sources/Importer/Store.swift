public import Mapping

/// A local database that an import can write to.
///
/// The importer knows this protocol and no database. One page is written at a time, from one thread at a time; calls
/// block. A second store is one more conforming type: the importer's test suite runs over each.
public protocol Store: AnyObject, Sendable {
    /// Begins the transaction of a page. The caller ends it with `commit` or `rollback` before it begins another.
    ///
    /// - Throws: ``StoreError``.
    func beginPage() throws -> any PageTransaction
}

/// The writes of one page: all of them or none.
public protocol PageTransaction: AnyObject {
    /// Runs `body` where the other calls (but commit and rollback) are allowed; one access serves many of them.
    func access(_ body: () throws -> Void) throws

    /// What comes next is from here; a store that keeps no history has no use for it.
    func setSource(_ source: PageSource) throws

    /// Makes the object of `entity` with the key in `cells` have these values: finds it, compares, and writes what is
    /// different. `absent` cells are left alone, or null in a new object.
    ///
    /// - Parameters:
    ///   - entity: The entity's index in the compiled model.
    ///   - cells: A cell per field of the entity's layout.
    ///   - role: How it came. A new object that is only referred to is a stub until something else describes it.
    func merge(entity: Int, cells: UnsafeBufferPointer<Cell>, as role: RowRole) throws -> MergeOutcome

    /// Makes sure that an object with this key exists, as a stub if need be; returns whether one was made.
    func ensure(entity: Int, key: UnsafeBufferPointer<Cell>) throws -> Bool

    /// Merges the targets of a relationship to many into what is stored; returns whether that changed anything.
    ///
    /// - Parameters:
    ///   - entity: The index of the entity that has the relationship.
    ///   - relationship: Its index in ``EntityLayout/toMany``.
    ///   - owner: The key cells of the object that has it.
    ///   - targets: The key cells of the targets, one after the other, in order.
    func mergeLinks(
        entity: Int, relationship: Int, owner: [Cell], targets: UnsafeBufferPointer<Cell>
    ) throws -> Bool

    /// Keeps a record that could not be imported.
    func quarantine(_ record: QuarantinedRecord) throws

    /// Keeps that records of an entity have a field that nothing reads; a field is kept once.
    func noteUnknownField(_ field: UnknownField) throws

    /// What comes next belongs to this walk: the store notes which rows it lists.
    func follow(_ walk: WalkTarget) throws

    /// Deletes an object that the remote says is gone, if it is there, as its entity's config says.
    ///
    /// One that others still refer to becomes a stub. The objects of which it is the parent go with it.
    ///
    /// - Returns: How many objects were deleted, per entity of the model.
    func delete(entity: Int, key: [StoredValue]) throws -> [Int: Int]

    /// Takes objects that the walk did not look at as seen.
    func spare(_ rows: [SparedRows]) throws

    /// Takes an object as seen whose record could not be imported.
    func spare(entity: Int, key: [StoredValue]) throws

    /// The walk passed by objects that nobody can name: what its listing lacks is not known.
    func spareUnknown() throws

    /// Ends the walk that is followed: deletes what its listing lacked, and keeps what the next one goes on from.
    ///
    /// Where a brake holds nothing is deleted, and nothing kept: the next walk finds the same again.
    func finish(_ end: WalkEnd) throws -> SweepResult

    /// Deletes what the walks of an entity's parents lacked, after the last of them; see ``WalkEnd/defersSweep``.
    func finishParents(of entity: Int, _ rule: SweepRule) throws -> SweepResult

    /// Takes an outbox entry away: the remote has it. Gives its object the remote's key, everywhere, if that is another.
    func acknowledge(_ entry: Int64, key: [StoredValue]?) throws

    /// Keeps where a walk stands; nil when it is over.
    func saveProgress(_ scope: WalkScope, progress: WalkProgress?) throws

    /// Makes the page's writes last.
    func commit() throws

    /// Takes the page's writes back. Safe after a failure, and twice.
    func rollback()
}

extension PageTransaction {
    /// Knows of no local edits.
    public func acknowledge(_ entry: Int64, key: [StoredValue]?) throws {
        throw StoreError(.internal, "this store keeps no outbox")
    }

    /// Keeps nothing.
    public func noteUnknownField(_ field: UnknownField) {}

    /// Keeps nothing.
    public func setSource(_ source: PageSource) {}
}

/// Where the records of a page come from.
public struct PageSource: Sendable, Equatable {
    /// The config's name of the bridge.
    public var bridge: String
    /// The entity whose walk the page belongs to.
    public var walk: String
    /// The URL or path, without secrets.
    public var location: String?

    /// A place.
    public init(bridge: String, walk: String, location: String?) {
        self.bridge = bridge
        self.walk = walk
        self.location = location
    }
}

/// How an object came.
public enum RowRole: Sendable, Equatable {
    /// As a record of its entity's own listing.
    case listed
    /// Inside another object, or as a record of another source.
    case nested
    /// As a mere key.
    case reference
}

/// What merging one object did.
public enum MergeOutcome: Sendable, Equatable {
    case inserted
    case updated
    case unchanged
}

/// A record that could not be imported.
public struct QuarantinedRecord: Sendable, Equatable {
    /// The entity it was meant for.
    public var entity: String
    /// The config's name of the bridge that brought it.
    public var bridge: String
    /// The page it came with, from 1.
    public var page: Int
    /// Its number in the page, from 1, if known.
    public var record: Int?
    /// Why it could not be imported.
    public var reason: String
    /// The remote representation, or its beginning.
    public var representation: String
    /// The URL or path it came from, without secrets.
    public var location: String?
    /// Of a representation that was too long to keep: how many bytes it had.
    public var cutFrom: Int?

    /// A record that could not be imported.
    public init(
        entity: String, bridge: String, page: Int, record: Int?, reason: String, representation: String,
        location: String?, cutFrom: Int? = nil
    ) {
        self.entity = entity
        self.bridge = bridge
        self.page = page
        self.record = record
        self.reason = reason
        self.representation = representation
        self.location = location
        self.cutFrom = cutFrom
    }
}

/// Why a store could not do what it was asked.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: String, Sendable {
        /// The file cannot be opened or is no database of bmo.
        case open
        /// The file's tables do not fit the model.
        case schema
        /// Another process holds the file.
        case busy
        /// No space, no permission, an I/O error.
        case io
        /// What was asked for makes no sense, such as a condition on a field that is not there.
        case request
        /// A row that a rule of the database refuses: a unique index or a trigger that somebody added.
        ///
        /// What was tried is undone, and the page can go on without it.
        case constraint
        /// A defect, or damage.
        case `internal`
    }

    /// The kind of failure.
    public let code: Code
    /// What failed, on which thing.
    public let message: String
    /// What the user can do about it.
    public let remedy: String?

    /// Describes a failure.
    public init(_ code: Code, _ message: String, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }

    /// The error on one line.
    public var description: String { remedy.map { "\(message); \($0)" } ?? message }
}
