extension RequestManager {
    // MARK: typed queries

    /// Returns the local objects of a query, without querying the remote.
    ///
    /// - Throws: ``RequestError``, with the code `model` if the type does not fit the configuration.
    public func objects<Object>(_ query: ObjectQuery<Object>) async throws -> [Object] {
        try await objects(query.request).typed()
    }

    /// Returns how many local objects match a query, regardless of its limit and offset.
    ///
    /// - Throws: ``RequestError``.
    public func count<Object>(_ query: ObjectQuery<Object>) async throws -> Int { try await count(query.request) }

    /// Returns the local objects of a query as a sequence, which reads page after page.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - pageSize: How many objects are read at a time.
    public func cursor<Object>(
        _ query: ObjectQuery<Object>, pageSize: Int = 500
    ) -> AsyncThrowingMapSequence<ObjectCursor, Object> {
        cursor(query.request, pageSize: pageSize).map { try Object($0) }
    }

    /// Returns the local object with a key; nil when it does not exist.
    ///
    /// - Throws: ``RequestError``.
    public func get<Object: BackedObject>(_ type: Object.Type, _ key: Object.Key) async throws -> Object? {
        try await get(ObjectID(entity: type.entityName, key: key.localValues)).map { try Object($0) }
    }

    /// Returns the local object with a key and the objects of a relationship; nil when it does not exist.
    ///
    /// - Throws: ``RequestError``.
    public func get<Object: BackedObject>(
        _ type: Object.Type, _ key: Object.Key, including relationship: some ObjectRelationship<Object>
    ) async throws -> Object? {
        let id = ObjectID(entity: type.entityName, key: key.localValues)
        return try await get(id, including: [relationship.path]).map { try Object($0) }
    }

    /// Returns the local objects of a query, and queries the remote if the query's rule requires it.
    ///
    /// - Throws: ``RequestError``.
    public func fetch<Object>(_ query: ObjectQuery<Object>) async throws -> TypedFetch<Object> {
        try TypedFetch(try await fetch(query.request))
    }

    /// Returns the local objects of a query and their later differences, whichever process writes them.
    ///
    /// - Throws: ``RequestError``.
    public func observe<Object>(_ query: ObjectQuery<Object>) throws -> TypedObservation<Object> {
        TypedObservation(untyped: try observe(query.request))
    }

    // MARK: typed edits

    /// Creates an object with the values that `body` assigns, and sends it.
    ///
    /// ```swift
    /// let save = try await manager.create(Note.self) { $0.title = "milk" }
    /// show(save.object)                       // at once, with a temporary key
    /// let note = try await save.current       // with the remote's key
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the object.
    ///   - workflow: When the object takes effect, and how a rejection is handled.
    ///   - userInfo: What the bridge and the result get with the edit.
    ///   - isolation: The actor that calls, on which `body` runs.
    ///   - body: Assigns the values.
    /// - Throws: ``RequestError``, as ``save(_:workflow:userInfo:pusher:)``; errors of `body`.
    @discardableResult
    public func create<Object: WritableObject>(
        _ type: Object.Type, workflow: SaveWorkflow = .localFirst, userInfo: UserInfo? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (inout ObjectDraft<Object>) throws -> Void
    ) async throws -> TypedSave<Object> {
        var draft = ObjectDraft<Object>()
        try body(&draft)
        let content = draft.values.content
        return try await save(
            ObjectEdit(operation: .create, entity: type.entityName, id: nil, content: content), nil, workflow, userInfo)
    }

    /// Edits an object, and sends the values that `body` changes.
    ///
    /// Other values stay as they are in the database now, which may be newer than `object`.
    ///
    /// ```swift
    /// try await manager.edit(note) { $0.stars = ($0.stars ?? 0) + 1 }
    /// ```
    ///
    /// - Parameters:
    ///   - object: The object, as it was read.
    ///   - workflow: When the changes take effect, and how a rejection is handled.
    ///   - userInfo: What the bridge and the result get with the edit.
    ///   - isolation: The actor that calls, on which `body` runs.
    ///   - body: Changes a copy of the object.
    /// - Throws: ``RequestError``, as ``save(_:workflow:userInfo:pusher:)``; errors of `body`.
    @discardableResult
    public func edit<Object: WritableObject>(
        _ object: Object, workflow: SaveWorkflow = .localFirst, userInfo: UserInfo? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (inout Object) throws -> Void
    ) async throws -> TypedSave<Object> {
        var edited = object
        try body(&edited)
        return try await save(edited, replacing: object, workflow: workflow, userInfo: userInfo)
    }

    /// Saves the values of an object that differ from those of an earlier copy, and sends them.
    ///
    /// - Parameters:
    ///   - object: The changed copy.
    ///   - old: The earlier copy.
    ///   - workflow: When the changes take effect, and how a rejection is handled.
    ///   - userInfo: What the bridge and the result get with the edit.
    /// - Throws: ``RequestError``, as ``save(_:workflow:userInfo:pusher:)``.
    @discardableResult
    public func save<Object: WritableObject>(
        _ object: Object, replacing old: Object, workflow: SaveWorkflow = .localFirst, userInfo: UserInfo? = nil
    ) async throws -> TypedSave<Object> {
        let changes = ObjectValues(object).changes(from: ObjectValues(old))
        return try await save(
            ObjectEdit(
                operation: .update, entity: Object.entityName, id: old.objectID, content: changes.content),
            old.objectID, workflow, userInfo)
    }

    /// Deletes an object, here and on the remote.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - workflow: When the deletion takes effect, and how a rejection is handled.
    ///   - userInfo: What the bridge and the result get with the edit.
    /// - Throws: ``RequestError``, as ``save(_:workflow:userInfo:pusher:)``.
    @discardableResult
    public func delete<Object: WritableObject>(
        _ object: Object, workflow: SaveWorkflow = .localFirst, userInfo: UserInfo? = nil
    ) async throws -> TypedSave<Object> {
        try await save(.delete(object.objectID), nil, workflow, userInfo)
    }

    private func save<Object: WritableObject>(
        _ edit: ObjectEdit, _ known: ObjectID?, _ workflow: SaveWorkflow, _ userInfo: UserInfo?
    ) async throws -> TypedSave<Object> {
        let save = try await save([edit], workflow: workflow, userInfo: userInfo)
        let read: @Sendable (ObjectID) async throws -> LocalObject? = { [self] id in
            // A soft deletion keeps the row.
            try await get(id).flatMap { $0.schema.isDeleted($0.row) ? nil : $0 }
        }
        // With `afterRemote`, the key is already the remote's.
        let saved = workflow == .afterRemote ? try await save.current.last : save.saved.last
        var object: Object?
        if let id = saved?.id ?? known, let local = try await read(id) { object = try Object(local) }
        return TypedSave(object: object, untyped: save, read: read)
    }
}
