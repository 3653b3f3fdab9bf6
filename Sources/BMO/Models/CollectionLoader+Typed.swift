extension RequestManager {
    /// Returns a loader for a remote list of one type, page by page and in the server's order.
    ///
    /// - Parameters:
    ///   - query: The query whose entity is listed; its conditions and included relationships apply.
    ///   - options: The loader's settings.
    ///   - place: Another loader's position: loading begins with the first page that was loaded there.
    /// - Throws: ``RequestError`` for a query that does not fit the model, and for an entity without a listing.
    public func collection<Object>(
        _ query: ObjectQuery<Object>, options: CollectionLoader.Options = CollectionLoader.Options(),
        from place: CollectionLoader.Place? = nil
    ) throws -> CollectionLoader {
        try collection(query.request, options: options, from: place)
    }
}

extension CollectionLoader {
    /// Returns the objects of the loaded pages as values of a type, in the server's order.
    ///
    /// - Throws: ``RequestError``.
    public func objects<Object: BackedObject>(as type: Object.Type) async throws -> [Object] {
        try await objects.typed()
    }
}
