internal import Mapping
public import StoreContract
internal import SystemCalls

/// The objects of a list in the server's order, the loader's state, and their changes: an `AsyncSequence` for one consumer.
///
/// ```swift
/// for try await change in try loader.changes() {
///     list.apply(change.difference, change.objects)
///     spinner.isVisible = change.state == .loading(.next)
/// }
/// ```
///
/// The first element has all objects, as insertions. Later ones come when a load changes the list, when any process
/// changes the objects, and when the state changes; then the difference may be empty. Changes while the consumer is busy
/// are combined into one element. The sequence ends when the manager is closed or the task is cancelled.
public struct CollectionChanges: AsyncSequence, Sendable {
    /// The list after a change.
    public struct Element: Sendable {
        /// The objects of the loaded pages, in the server's order.
        public var objects: [LocalObject]
        /// The difference from the previous element's objects, with the indexes that a list view needs.
        public var difference: RowDifference
        /// What the loader does.
        public var state: CollectionLoader.State
    }

    let loader: CollectionLoader

    /// Returns an iterator, which starts listening with its first element.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(loader: loader) }

    /// An iterator that waits for changes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let loader: CollectionLoader
        /// Nil before the first element.
        private var signals: AsyncStream<Void>.Iterator?
        private var last: (rows: [EntityRow], state: CollectionLoader.State)?

        /// The rows of the last element.
        var rows: [EntityRow] { last?.rows ?? [] }

        init(loader: CollectionLoader) { self.loader = loader }

        /// Returns the next change; nil when the manager is closed or the task is cancelled.
        ///
        /// - Throws: ``RequestError``.
        public mutating func next() async throws -> Element? {
            do {
                return try await nextChange()
            } catch {
                if loader.manager.tasks.isClosed { return nil }
                throw error
            }
        }

        private mutating func nextChange() async throws -> Element? {
            // Before the rows are read, so that no later change is missed.
            if signals == nil { signals = try await loader.signals() }
            while true {
                if last != nil {
                    guard await signals?.next() != nil else { return nil }
                }
                if Task.isCancelled { return nil }
                let (rows, state) = try await loader.rows()
                let difference = RowDifference(from: last?.rows ?? [], to: rows)
                let isFirst = last == nil
                let isOther = last.map { $0.state != state } ?? true
                last = (rows, state)
                guard isFirst || isOther || !difference.isEmpty else { continue }
                return Element(
                    objects: try await loader.objects(of: rows), difference: difference, state: state)
            }
        }
    }
}

/// Those who follow a list: each is woken when the list or the loader's state changes.
final class CollectionFollowers: Sendable {
    private let signals = Mutex<(last: Int, all: [Int: AsyncStream<Void>.Continuation])>((0, [:]))

    func add(_ signal: AsyncStream<Void>.Continuation) -> Int {
        signals.withLock { signals in
            signals.last += 1
            signals.all[signals.last] = signal
            return signals.last
        }
    }

    func remove(_ number: Int) { _ = signals.withLock { $0.all.removeValue(forKey: number) } }

    func wake() { for signal in signals.withLock({ Array($0.all.values) }) { signal.yield() } }
}

extension CollectionLoader {
    /// Returns the list, the loader's state, and their later changes.
    ///
    /// - Throws: ``RequestError``.
    public nonisolated func changes() throws -> CollectionChanges {
        _ = try manager.reader.schema(of: request.entity)
        return CollectionChanges(loader: self)
    }

    /// Begins to observe the list and its objects; returns a signal for each time that they may have changed.
    nonisolated func signals() async throws -> AsyncStream<Void>.Iterator {
        let changes: StoreChanges
        try manager.tasks.check(request.entity)
        do {
            // This can wait for a writer or a server.
            changes = try await ImportThread(label: "bmo.observe").run { [store = manager.session.store, request] in
                try store.changes(of: request.entity)
            }
        } catch let error as StoreError {
            throw RequestError(
                .answeredLocally, entity: request.entity, code: "database", error.message, remedy: error.remedy)
        }
        let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = followers.add(signal)
        let following = Task {
            for await _ in changes { signal.yield() }
            signal.finish()
        }
        signal.onTermination = { [followers] _ in
            followers.remove(number)
            following.cancel()
        }
        return signals.makeAsyncIterator()
    }

    /// Returns the present rows of the list in the server's order, and the state.
    func rows() async throws -> ([EntityRow], State) {
        let (keys, state) = (pages.flatMap(\.keys), state)
        let reader = manager.reader
        let schema = try reader.schema(of: request.entity)
        let rows = try await manager.whileOpen(.answeredLocally, request.entity) {
            try await reader.run { try reader.store.rows(of: schema.layout.index, keys: keys) }
        }
        let met = try await matching(keys)
        let places = Dictionary(rows.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        let listed = keys.compactMap { places[$0] }.filter { row in
            met.map { $0.contains(schema.id(of: row.key, in: schema.layout)) } ?? true
        }
        return (listed, state)
    }

    /// Returns the objects of rows, with those that the request includes.
    func objects(of rows: [EntityRow]) async throws -> [LocalObject] {
        let (reader, request) = (manager.reader, request)
        return try await manager.whileOpen(.answeredLocally, request.entity) {
            let entity = try reader.schema(of: request.entity).layout.index
            return try await reader.objects(entity, rows: rows, including: request.including)
        }
    }
}
