internal import BridgeHost
internal import Mapping
internal import Model
public import StoreContract

/// The conditions and other terms sent with each page of a list.
struct PageFilters: Sendable {
    let values: [FetchRequest.Filter]
    let terms: ScanTerms
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
        let (plan, filters) = try listing(of: request, options)
        return CollectionLoader(request, manager: self, options: options, plan: plan, filters: filters, from: place)
    }

    /// Returns a loader for a remote list whose order is kept in the database.
    ///
    /// It begins with the pages that were loaded under this name before, by this process or an earlier one, in the
    /// server's order and without asking the remote. Pages of another predicate are not used. What two loaders of one
    /// name load replaces what the other has kept.
    ///
    /// ```swift
    /// let request = ObjectRequest("Message", where: Field("text").isLike("%milk%"))
    /// let loader = try await manager.collection(request, keptAs: "search: milk")
    /// ```
    ///
    /// - Parameters:
    ///   - request: The request whose entity is listed; its predicate and included relationships apply.
    ///   - name: The list's name, of 1 to 200 bytes without control characters, and unique for the entity.
    ///   - options: The loader's settings.
    /// - Throws: As the one without a name; ``RequestError`` of the code `request` for another name.
    public func collection(
        _ request: ObjectRequest, keptAs name: String, options: CollectionLoader.Options = CollectionLoader.Options()
    ) async throws -> CollectionLoader {
        let (plan, filters) = try listing(of: request, options)
        let keeping = CollectionKeeping(
            name, request, root: try root(of: request.entity, name), listing: plan.request,
            pageSize: options.pageSize ?? request.pageSize, hasUserInfo: filters.terms.userInfo != nil)
        let kept = try await whileOpen(.answeredLocally, request.entity) { [reader] in
            try await reader.run { try reader.store.pages(of: keeping.collection) }
        }
        return CollectionLoader(
            request, manager: self, options: options, plan: plan, filters: filters, from: nil, keeping: keeping,
            kept: keeping.usable(kept))
    }

    /// Returns the collections whose order is kept, by entity and name.
    ///
    /// - Throws: ``RequestError``.
    public func collections() async throws -> [KeptCollection] {
        try await whileOpen(.answeredLocally, "") { [reader] in
            try await reader.run { try reader.store.collections() }
        }
    }

    /// Forgets the order of a collection; its objects stay.
    ///
    /// - Throws: ``RequestError``.
    public func forgetCollection(_ name: String, of entity: String) async throws {
        let collection = CollectionName(entity: try root(of: entity, name), name: name)
        try await tasks.run(entity) { [self] in
            try await replacePages(1...Int.max, of: collection, with: [])
        }
    }

    private func listing(
        of request: ObjectRequest, _ options: CollectionLoader.Options
    ) throws -> (ScanPlan, PageFilters) {
        try tasks.check(request.entity)
        _ = try reader.query(request)
        var request = request
        request.pageSize = options.pageSize ?? request.pageSize
        let (plan, filters, terms) = try remoteFetch(request).listing()
        return (plan, PageFilters(values: filters, terms: terms))
    }

    /// Returns the name of the entity that has the table of an entity's objects, for a list with this name.
    private func root(of entity: String, _ name: String) throws -> String {
        let isControl = name.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
        guard (1...200).contains(name.utf8.count), !isControl else {
            throw RequestError(
                .requested, entity: entity, code: "request",
                "the name of a collection cannot be \(name.debugDescription)",
                remedy: "use 1 to 200 bytes without control characters")
        }
        return reader.model.entities[try reader.schema(of: entity).layout.root].name
    }
}
