internal import BMO
internal import Mapping
internal import StoreContract
internal import WebServer

/// Performs what a form requests: a POST request, whose path names the action.
struct PageAction {
    /// The result of an action.
    enum Outcome: Sendable {
        /// A redirection to another page, with a notice.
        case leads(to: WebLink, Notice)
        /// A page that is the response itself.
        case shows(HTMLPage)
    }

    let context: PageContext
    let form: FormFields

    init(_ context: PageContext, _ form: FormFields) {
        self.context = context
        self.form = form
    }

    /// Performs what a form requests.
    ///
    /// - Throws: ``PageFailure`` for what cannot be done; `StoreError`.
    func run(_ path: [String]) async throws -> Outcome {
        switch path.first {
        case "sync" where path.count <= 2, "push" where path.count == 1: return try start(path)
        case "decide" where path.count == 2: return try await decide(path[1])
        case "runs" where path.count == 3 && path[2] == "undo": return try await undo(path[1])
        case "object" where path.count > 2: return try await edit(path[1], Array(path.dropFirst(2)))
        case "new" where path.count == 2: return try await create(path[1])
        default: throw PageFailure.noAction
        }
    }

    // MARK: Syncs and pushes

    private func start(_ path: [String]) throws -> Outcome {
        let entity = try form["entity"].map { try context.layout($0).name }
        let kind: Activity.Kind
        switch (path[0], path.dropFirst().first, entity) {
        case ("push", nil, _): kind = .push
        case ("sync", nil, let entity): kind = .sync(entity.map { [$0] })
        case ("sync", "delete", let entity?):
            guard let shown = form["held"].flatMap({ Int($0) }), shown > 0 else {
                throw PageFailure(400, "The form lacks the number of rows to delete; sync \(entity) again.")
            }
            kind = .deleting(entity, atMost: shown)
        case ("sync", "preview", let entity?): kind = .rehearsal(entity)
        case ("sync", "stop", _):
            context.activity.stop()
            return .leads(to: WebLink(), Notice(.good, "Stopping; pages that have been imported stay."))
        default: throw PageFailure.noAction
        }
        let isStarted = context.activity.start(kind)
        return .leads(
            to: path.count > 1 ? WebLink("decide") : WebLink(),
            isStarted ? Notice(.good, "\(kind.title) was started.") : Notice(.warn, "Another sync or push is running."))
    }

    // MARK: Decisions

    private func decide(_ what: String) async throws -> Outcome {
        switch what {
        case "conflict": return try await resolve()
        case "outbox": return try await outbox()
        case "quarantine": return try await retryQuarantine()
        default: throw PageFailure.noAction
        }
    }

    private func resolve() async throws -> Outcome {
        guard let side = form["take"].flatMap(ConflictSide.init), let entity = form["entity"] else {
            throw PageFailure(400, "The form lacks the side or the entity.")
        }
        let layout = try context.layout(entity)
        let (parts, column) = (form.values(of: "key"), form["column"].flatMap { $0.isEmpty ? nil : $0 })
        let seen = form[SeenState.field]
        try await change { store in
            let key = try ObjectContent.key(layout, parts, in: store)
            guard let conflict = try store.conflicts(entity: entity, key: key).first(where: { $0.column == column })
            else { throw PageFailure(409, "The conflict has already been decided.") }
            try SeenState.check(seen, is: SeenState.of(conflict), "The conflict")
            try store.resolve(entity: entity, key: key, column: column, take: side)
        }
        return .leads(
            to: WebLink("decide"),
            Notice(.good, side == .local ? "The value here is kept; a push sends it." : "The remote's value is taken."))
    }

    private func outbox() async throws -> Outcome {
        guard let id = form["id"].flatMap(Int64.init) else { throw PageFailure(400, "The form lacks the edit.") }
        let isRetry = form["do"] == "retry"
        guard isRetry || form["do"] == "drop" else { throw PageFailure(400, "The form lacks the action.") }
        let seen = form[SeenState.field]
        try await change { store in
            guard let entry = try store.outboxEntry(id) else {
                throw PageFailure(409, "Edit \(id) is no longer in the outbox.")
            }
            try SeenState.check(seen, is: SeenState.of(entry), "Edit \(id)")
            if isRetry { try store.retryOutbox([id]) } else { try store.dropOutbox([id]) }
        }
        return .leads(
            to: WebLink("decide"),
            Notice(
                .good, isRetry ? "The next push sends edit \(id)." : "Edit \(id) was dropped and rolled back here."
            ))
    }

    private func retryQuarantine() async throws -> Outcome {
        let entity = try form["entity"].map { try context.layout($0).name }
        let workspace = context.workspace
        let store = try await workspace.openLockedStore(command: "bmo serve")
        let report = try await context.readers.run {
            defer { try? store.close() }
            return try workspace.retryQuarantine(of: entity, in: store)
        }
        return .leads(
            to: WebLink("decide"),
            Notice(
                report.imported.isEmpty ? .warn : .good,
                "\(NumberText.count(report.imported.count, "record fits", "records fit")) now; "
                    + "\(NumberText.grouped(report.kept.count)) in quarantine."))
    }

    // MARK: Edits

    private func edit(_ entity: String, _ parts: [String]) async throws -> Outcome {
        let layout = try context.layout(entity)
        let (form, workspace) = (form, context.workspace)
        let isDeletion = form["do"] == "delete"
        let words = try await change { store -> String in
            let key = try ObjectContent.key(layout, parts, in: store)
            let current = try store.rows(of: layout.index, keys: [key]).first?.values
            if isDeletion { try SeenState.check(form[SeenState.field], is: SeenState.of(current), "The object") }
            let edit =
                isDeletion
                ? LocalEdit(.delete, entity: entity, key: key)
                : try FormEdit.edit(form, of: layout, key: key, current: current)
            guard isDeletion || !edit.values.isEmpty else { return "Nothing had to be changed." }
            let entry = try workspace.save([edit], workflow: .localOnly, in: store).receipts.first?.entry
            let what = isDeletion ? "Deleted here" : "Saved here: \(edit.values.keys.sorted().joined(separator: ", "))"
            return entry.map { "\(what). Edit \($0) waits to be sent." } ?? "\(what). There is nothing to send."
        }
        return .leads(to: WebLink(["object", entity] + parts), Notice(.good, words))
    }

    private func create(_ entity: String) async throws -> Outcome {
        let layout = try context.layout(entity)
        let (form, workspace) = (form, context.workspace)
        let key = try await change { store -> [StoredValue] in
            let edit = try FormEdit.edit(form, of: layout, key: nil, current: nil)
            return try workspace.save([edit], workflow: .localOnly, in: store).receipts.first?.key ?? []
        }
        return .leads(
            to: PagePart.object(entity, key), Notice(.good, "Created here. The edit waits to be sent."))
    }

    /// Writes to the database through a store that is opened for this.
    private func change<Result: Sendable>(_ body: @escaping @Sendable (any Store) throws -> Result) async throws
        -> Result
    {
        let workspace = context.workspace
        return try await context.readers.run {
            let store = try workspace.openStoreForEdits(command: "bmo serve")
            defer { try? store.close() }
            return try body(store)
        }
    }
}
