public import Observation
public import StoreContract

/// A remote list in the server's order, for a user interface: an `@Observable` list with sections that follows the
/// database and its loader.
///
/// ```swift
/// @State var hits = ObservedCollection(
///     Hit.where(Hit.query == "milk"), keptAs: "search: milk", of: manager, sectionedBy: { $0.kind ?? "" })
/// List(hits.sections) { section in Section(section.id) { ForEach(section.objects) { Text($0.title ?? "") } } }
/// ```
///
/// What was kept is here without the remote; ``refresh()`` and ``loadNext()`` ask it. Sections are identified by their `id`
/// and come in the order of their first objects, objects by their keys. A view that performs steps, such as a table view,
/// takes them from ``onChange(_:)``. The list follows until it is released, or until the manager is closed.
@MainActor @Observable
public final class ObservedCollection<Object: BackedObject, SectionID: Hashable & Sendable> {
    /// The list after a change, with the steps that lead to it.
    public struct Change: Sendable {
        /// The objects of the loaded pages, in the server's order.
        public var objects: [Object]
        /// The difference from the objects of the change before.
        public var difference: RowDifference
        /// The objects in sections.
        public var sections: [ObjectSection<SectionID, Object>]
        /// The difference from the sections of the change before.
        public var sectionDifference: SectionDifference
        /// What the loader does.
        public var state: CollectionLoader.State
    }

    /// The objects of the loaded pages, in the server's order; empty before the first read.
    public private(set) var objects: [Object] = []
    /// The objects in sections.
    public private(set) var sections: [ObjectSection<SectionID, Object>] = []
    /// What the loader does: nothing, a load, nothing since its last load failed, or nothing since the end is reached.
    public private(set) var state = CollectionLoader.State.idle
    /// Whether the objects have been read.
    public private(set) var isLoaded = false
    /// The error that ended the observation of the list; nil while it goes on.
    ///
    /// A load that fails is a ``state`` instead.
    public private(set) var error: (any Error)?
    /// Why objects of the list are missing in ``objects``: each has a value that its Swift type cannot represent.
    public private(set) var misfits: [RequestError] = []

    @ObservationIgnored private var following: FollowingTask?
    @ObservationIgnored private var listener: ((Change) -> Void)?
    private let section: @Sendable (Object) -> SectionID
    private let loader: Task<CollectionLoader, any Error>

    /// Begins to follow a list whose order is kept in the database.
    ///
    /// - Parameters:
    ///   - query: The query whose entity is listed; its conditions and included relationships apply.
    ///   - name: The list's name, as in `RequestManager.collection(_:keptAs:options:)`.
    ///   - options: The loader's settings.
    ///   - manager: The manager of the database.
    ///   - section: What the objects of a section have in common.
    public convenience init(
        _ query: ObjectQuery<Object>, keptAs name: String,
        options: CollectionLoader.Options = CollectionLoader.Options(), of manager: RequestManager,
        sectionedBy section: @escaping @Sendable (Object) -> SectionID
    ) {
        self.init(section) { try await manager.collection(query, keptAs: name, options: options) }
    }

    /// Begins to follow the list of a loader, kept or not.
    ///
    /// - Parameters:
    ///   - loader: The loader.
    ///   - section: What the objects of a section have in common.
    public convenience init(
        _ loader: CollectionLoader, sectionedBy section: @escaping @Sendable (Object) -> SectionID
    ) {
        self.init(section) { loader }
    }

    private init(
        _ section: @escaping @Sendable (Object) -> SectionID,
        _ open: @escaping @Sendable () async throws -> CollectionLoader
    ) {
        self.section = section
        let loader = Task { try await open() }
        self.loader = loader
        following = FollowingTask(
            Task { [weak self] in
                do {
                    for try await change in try await loader.value.changes(of: Object.self) {
                        guard let self else { return }
                        take(change)
                    }
                } catch {
                    self?.error = error
                }
            })
    }

    private func take(_ change: TypedCollectionChanges<Object>.Element) {
        let new = ObjectSection.sections(of: change.objects, by: section)
        let difference = SectionDifference(from: sections, to: new)
        // A state alone does not draw the list again.
        if !change.difference.isEmpty || !difference.isEmpty { (objects, sections) = (change.objects, new) }
        if state != change.state { state = change.state }
        if misfits != change.misfits { misfits = change.misfits }
        if !isLoaded { isLoaded = true }
        listener?(
            Change(
                objects: change.objects, difference: change.difference, sections: new, sectionDifference: difference,
                state: change.state))
    }

    /// Calls a closure with each change, in their order and on the main actor; it replaces an earlier one.
    ///
    /// The first call has all objects, as insertions: at once, or when they have been read. Each difference leads from
    /// the list of one call to that of the next.
    ///
    /// ```swift
    /// hits.onChange { [weak table] change in table?.apply(change.sectionDifference, change.sections) }
    /// ```
    public func onChange(_ body: ((Change) -> Void)?) {
        listener = body
        guard let body, isLoaded else { return }
        body(
            Change(
                objects: objects, difference: RowDifference(inserting: objects.count), sections: sections,
                sectionDifference: SectionDifference(from: [], to: sections), state: state))
    }

    // MARK: loading

    /// Loads the loaded pages again, or the first if none is loaded; see ``CollectionLoader/refresh()``.
    ///
    /// The properties follow when the load has ended, which ``state`` shows.
    ///
    /// - Throws: ``RequestError``, also the ``error``; `CancellationError`.
    public func refresh() async throws { _ = try await loader.value.refresh() }

    /// Loads the first page in place of the loaded ones; see ``CollectionLoader/loadFirst()``.
    ///
    /// - Throws: As ``refresh()``.
    public func loadFirst() async throws { _ = try await loader.value.loadFirst() }

    /// Loads the page after the loaded ones, if there is one; see ``CollectionLoader/loadNext()``.
    ///
    /// - Throws: As ``refresh()``.
    public func loadNext() async throws { _ = try await loader.value.loadNext() }

    /// Loads the page before the loaded ones, if there is one; see ``CollectionLoader/loadPrevious()``.
    ///
    /// - Throws: As ``refresh()``.
    public func loadPrevious() async throws { _ = try await loader.value.loadPrevious() }

    /// Cancels the running load, unless it has committed.
    public func cancel() async { await (try? loader.value)?.cancel() }
}

/// The only section of a list without sections.
public struct WholeList: Hashable, Sendable {
    /// Creates the section's id.
    public init() {}
}

extension ObservedCollection where SectionID == WholeList {
    /// Begins to follow a list whose order is kept in the database, without sections.
    ///
    /// - Parameters:
    ///   - query: The query whose entity is listed; its conditions and included relationships apply.
    ///   - name: The list's name, as in `RequestManager.collection(_:keptAs:options:)`.
    ///   - options: The loader's settings.
    ///   - manager: The manager of the database.
    public convenience init(
        _ query: ObjectQuery<Object>, keptAs name: String,
        options: CollectionLoader.Options = CollectionLoader.Options(), of manager: RequestManager
    ) {
        self.init(query, keptAs: name, options: options, of: manager, sectionedBy: { _ in WholeList() })
    }

    /// Begins to follow the list of a loader, kept or not, without sections.
    public convenience init(_ loader: CollectionLoader, of type: Object.Type = Object.self) {
        self.init(loader, sectionedBy: { _ in WholeList() })
    }
}
