internal import BridgeHost
internal import Mapping
internal import Model

/// The conditions that go with each page of a list.
struct PageFilters: Sendable {
    let values: [FetchRequest.Filter]
}

extension RequestManager {
    /// A remote list, page by page and in the server's order.
    ///
    /// - Parameters:
    ///   - request: Whose entity is listed; its predicate and included relationships count.
    ///   - options: How it loads.
    ///   - place: Where another loader stood: begins with its first loaded page.
    /// - Throws: ``RequestError`` for a request that does not fit the model, and an entity that no list brings.
    public func collection(
        _ request: ObjectRequest, options: CollectionLoader.Options = CollectionLoader.Options(),
        from place: CollectionLoader.Place? = nil
    ) throws -> CollectionLoader {
        _ = try reader.query(request)
        let fetch = RemoteFetch(
            request: request, session: session, reader: reader, availability: self.options.availability,
            detailLimit: self.options.detailLimit, report: { _ in })
        let (plan, filters) = try fetch.listing()
        return CollectionLoader(
            request, manager: self, options: options, plan: plan, filters: PageFilters(values: filters), from: place)
    }
}
