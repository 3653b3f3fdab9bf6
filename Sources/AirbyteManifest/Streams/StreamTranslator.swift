internal import Model

/// Translates the streams of a connector, and their parents.
final class StreamTranslator {
    private(set) var drafts: [EntityDraft] = []
    private let bridges: BridgeList
    private let scope: Scope
    private let files: [String: String]
    private var tables = LocalNames()
    /// The translated streams, by name and request.
    private var done: [(name: String, identity: ConfigValue, draft: EntityDraft)] = []

    init(bridges: BridgeList, files: [String: String], _ scope: Scope) {
        self.bridges = bridges
        self.files = files
        self.scope = scope
    }

    /// - Parameter isStream: Whether it is a stream of the connector, and not only the parent of one.
    @discardableResult
    func translate(_ given: ConfigValue, isStream: Bool) -> EntityDraft {
        var stream = given
        var delegated: String?
        if given.type == "StateDelegatingStream" {
            stream = given["full_refresh_stream"] ?? given
            delegated = given["incremental_stream"]?["retriever"]?["requester"]?["path"]?.printed ?? "another request"
        }
        let scope = scope.with(stream)
        let name =
            (try? Template((stream["name"] ?? given["name"] ?? "stream").printed, scope).known?.printed) ?? "stream"
        let identity = StreamIdentity.of(stream)
        if let found = done.first(where: { $0.name == name && $0.identity == identity }) {
            if isStream { found.draft.isStream = true }
            return found.draft
        }
        let draft = EntityDraft(stream: name)
        draft.isStream = isStream
        draft.name = tables.claim(isStream ? name : done.contains { $0.name == name } ? name + "_parent" : name)
        done.append((name, identity, draft))
        if let delegated {
            draft.note(
                "for incremental syncs, Airbyte reads \(delegated) instead of the listing; bmo reads the listing each time"
            )
        }
        build(draft, stream, scope)
        drafts.append(draft)
        return draft
    }

    private func build(_ draft: EntityDraft, _ stream: ConfigValue, _ scope: Scope) {
        guard let retriever = stream["retriever"] else {
            let name = stream["class_name"]?.string ?? stream.type ?? ""
            draft.obstacle(stream["class_name"] == nil ? "\(name) has no retriever" : "\(name) is custom Python")
            return
        }
        SchemaTranslator(draft: draft, files: files).apply(stream["schema_loader"], stream: draft.stream, scope)
        draft.keepsExtra = draft.columns.claim("extra") == "extra"
        key(draft, stream, scope)
        let isExport = retriever.type == "AsyncRetriever"
        guard isExport || retriever.type == "SimpleRetriever" else {
            let name = retriever["class_name"]?.string ?? retriever.type ?? ""
            draft.obstacle(
                retriever["class_name"] == nil
                    ? "\(name) has no counterpart" : "its retriever \(name) is custom Python")
            return
        }
        let inner = scope.with(retriever)
        guard let requester = retriever[isExport ? "creation_requester" : "requester"] else {
            draft.obstacle("it has no requester")
            return
        }
        if requester.type != "HttpRequester" {
            draft.obstacle("its requester \(requester["class_name"]?.string ?? requester.type ?? "") is custom Python")
        }
        var partitions = Partitions(draft: draft) { self.translate($0, isStream: false) }
        partitions.apply(retriever["partition_router"], inner)
        request(draft, stream, retriever, requester, inner)
        partitions.finish()
        for (member, words) in [
            ("pagination_reset", "starts over"), ("page_size_reduction", "asks for smaller pages"),
            ("request_window_splitting", "splits the time window"),
        ] where retriever[member]?.isTruthy == true {
            draft.doubt("\(member): Airbyte \(words) if the API refuses a request; bmo reports the error")
        }
        if stream["file_uploader"]?.isTruthy == true { draft.doubt("file_uploader: the files are not downloaded") }
    }

    private func request(
        _ draft: EntityDraft, _ stream: ConfigValue, _ retriever: ConfigValue, _ requester: ConfigValue, _ scope: Scope
    ) {
        let scope = scope.with(requester)
        let address: RequestAddress
        let bridge: BridgeDraft
        do {
            address = try RequestAddress(requester, scope, scope.inputs)
            bridge = bridges.bridge(at: address, requester["authenticator"], scope)
        } catch {
            draft.obstacle(reason(error))
            return
        }
        draft.bridge = bridge.name
        for obstacle in bridge.obstacles { draft.obstacle(obstacle) }
        for doubt in bridge.doubts { draft.doubt(doubt) }
        let cursor = CursorRule(stream["incremental_sync"], draft: draft, self.scope.with(stream))
        var text = SliceText(draft: draft, bridge: bridge)
        if let window = cursor?.window {
            (text.start, text.end, text.format) = (window.start, window.end, window.format)
        }
        cursor?.begin(text)
        Requester(draft: draft, text: text).apply(requester, address: address, scope)
        let transformations = stream["transformations"]?.array ?? []
        if retriever.type == "AsyncRetriever" {
            Transformations(draft: draft, text: text).apply(transformations, self.scope.with(stream))
            cursor?.finish(text)
            Requester.finish(draft)
            ExportTranslator(draft: draft, text: text, bridges: bridges).apply(retriever, scope)
            return
        }
        let selector = Selector(draft: draft, rewritten: rewritten(by: transformations, stream))
        let isFiltered = retriever["record_selector"]?["record_filter"]?.isTruthy ?? false
        Paginator(draft: draft, text: text, records: selector.path(retriever, scope), isFiltered: isFiltered)
            .apply(retriever["paginator"], scope)
        selector.apply(retriever, scope)
        Transformations(draft: draft, text: text).apply(transformations, self.scope.with(stream))
        cursor?.finish(text)
        Requester.finish(draft)
        LaterPages(draft: draft).apply(retriever, cursor: stream["incremental_sync"])
        ErrorHandler(draft: draft).apply(requester["error_handler"], scope)
    }

    /// Returns the members that transformations write before the record filter reads them.
    private func rewritten(by transformations: [ConfigValue], _ stream: ConfigValue) -> Set<String> {
        let isFirst =
            stream["retriever"]?["record_selector"]?["transform_before_filtering"]?.isTruthy
            ?? stream["incremental_sync"]?["is_client_side_incremental"]?.isTruthy ?? false
        guard isFirst else { return [] }
        let added = transformations.flatMap { $0["fields"]?.array ?? [] }.map { $0["path"] }
        let removed = transformations.flatMap { $0["field_pointers"]?.array ?? [] }
        return Set((added + removed).compactMap { $0?.array?.first?.printed })
    }

    static let noKey = "the connector names no key: each sync appends all records again"

    private func key(_ draft: EntityDraft, _ stream: ConfigValue, _ scope: Scope) {
        let value = stream["primary_key"]
        let names = (value?.array ?? [value ?? .null]).flatMap { part -> [[String]] in
            if let path = part.array { return [path.map(\.printed)] }
            guard let text = part.string, let known = (try? Template(text, scope))?.known else { return [] }
            return (known.array ?? [known]).map { [$0.printed] }
        }.filter { $0 != [""] && !$0.isEmpty }
        for path in names {
            let found = draft.attributes.firstIndex {
                $0.path == .string(EntityDraft.path(path)) || path.count == 1 && $0.name == path[0]
            }
            if let found {
                let type = draft.attributes[found].type
                if type == "json" { draft.attributes[found].type = "text" }
                if type == "real" { draft.attributes[found].type = "decimal" }
                draft.key.append(draft.attributes[found].name)
            } else {
                draft.key.append(draft.attribute(reading: path))
            }
        }
        guard draft.key.isEmpty else { return }
        defer {
            if draft.key.isEmpty, stream["incremental_sync"] == nil {
                draft.doubt(Self.noKey, ofValues: true)
            }
        }
        if let guess = draft.attributes.first(where: {
            ["id", "uuid", "gid"].contains($0.name) && ["text", "integer"].contains($0.type)
        }) {
            draft.key = [guess.name]
            draft.keyComment = "a guess: the connector names no key"
            draft.doubt("the connector names no key; \(guess.name) is a guess", ofValues: true)
        }
    }
}
