/// The local objects of a query in sections, and their changes: an `AsyncSequence` for one consumer.
///
/// ```swift
/// for try await change in try manager.observe(query, sectionedBy: { $0.list?.key }) {
///     table.apply(change.difference, change.sections)
/// }
/// ```
///
/// Sections come in the order of their first objects: sort the query by what makes the sections. The first element has all
/// sections, as insertions.
public struct SectionedObservation<Object: BackedObject, ID: Hashable & Sendable>: AsyncSequence, Sendable {
    /// The sections after a change.
    public struct Element: Sendable {
        /// The sections with their objects, in the query's order.
        public var sections: [ObjectSection<ID, Object>]
        /// The difference from the previous element's sections.
        public var difference: SectionDifference
        /// Why objects of the query are left out, as in ``TypedObservation``.
        public var misfits: [RequestError]
    }

    let objects: TypedObservation<Object>
    let id: @Sendable (Object) -> ID

    /// Starts listening; call it once.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(objects: objects.makeAsyncIterator(), id: id)
    }

    /// An iterator that waits for differences.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var objects: TypedObservation<Object>.AsyncIterator
        let id: @Sendable (Object) -> ID
        var sections: [ObjectSection<ID, Object>] = []

        /// Returns the next difference; nil when the manager is closed or the task is cancelled.
        public mutating func next() async throws -> Element? {
            guard let element = try await objects.next() else { return nil }
            let old = sections
            sections = ObjectSection.sections(of: element.objects, by: id)
            return Element(
                sections: sections, difference: SectionDifference(from: old, to: sections), misfits: element.misfits)
        }
    }
}

extension RequestManager {
    /// Returns the local objects of a query in sections, and their later differences, whichever process writes them.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - section: What the objects of a section have in common.
    /// - Throws: ``RequestError``.
    public func observe<Object, ID>(
        _ query: ObjectQuery<Object>, sectionedBy section: @escaping @Sendable (Object) -> ID
    ) throws -> SectionedObservation<Object, ID> {
        SectionedObservation(objects: try observe(query), id: section)
    }
}
