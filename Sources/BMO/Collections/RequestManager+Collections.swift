internal import BridgeHost
internal import Mapping
internal import Model

/// The conditions sent with each page of a list.
struct PageFilters: Sendable {
    let values: [FetchRequest.Filter]
}

extension RequestManager {
    /// Returns a loader for a remote list, page by page and in the server's order.
    ///
    /// - Parameters:
    ///   - request: The request whose entity is listed; its predicate and included relationships apply.
    ///   - options: The loader's settings.
    ///   - place: Another loader's position: loading begins with the first page that was loaded there.
    /// - Throws: ``RequestError`` for a request that does not fit the model, and for an entity without a listing.
    public func collection(
        _ request: ObjectRequest, options: CollectionLoader.Options = CollectionLoader.Options(),
        from place: CollectionLoader.Place? = nil
    ) throws -> CollectionLoader {
        _ = try reader.query(request)
        let fetch = RemoteFetch(
            request: request, session: session, reader: reader, availability: self.options.availability,
            stopwatch: stopwatch, detailLimit: self.options.detailLimit, report: { _ in })
        let (plan, filters) = try fetch.listing()
        return CollectionLoader(
            request, manager: self, options: options, plan: plan, filters: PageFilters(values: filters), from: place)
    }
}
