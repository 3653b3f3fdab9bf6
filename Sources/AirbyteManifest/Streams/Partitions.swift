internal import Model

/// Translates partition routers into `parent` and the section's `each`.
struct Partitions {
    let draft: EntityDraft
    /// Translates the stream of a parent.
    let parent: (ConfigValue) -> EntityDraft
    /// The keys of parents, by the slice's field.
    private var keys: [Key] = []

    /// A parent's attribute that a child's slice holds.
    private struct Key {
        let field: String
        let column: String
        let parent: EntityDraft
        /// Whether the parent has it for this child alone.
        let isAdded: Bool
    }

    init(draft: EntityDraft, parent: @escaping (ConfigValue) -> EntityDraft) {
        self.draft = draft
        self.parent = parent
    }

    mutating func apply(_ router: ConfigValue?, _ scope: Scope) {
        for router in router?.array ?? [router ?? .null] where router != .null {
            let scope = scope.with(router)
            do {
                switch router.type {
                case "ListPartitionRouter": try list(router, scope)
                case "SubstreamPartitionRouter": try substream(router, scope)
                default:
                    let name = router["class_name"]?.string ?? router.type ?? ""
                    throw Untranslatable(
                        router["class_name"] == nil ? "\(name) has no counterpart" : "\(name) is custom Python")
                }
            } catch {
                draft.obstacle("its partitions: \(reason(error))")
            }
        }
    }

    private func list(_ router: ConfigValue, _ scope: Scope) throws {
        guard let field = try Template(router["cursor_field"]?.printed ?? "", scope).known?.printed else {
            throw Untranslatable("only Python can compute the name \(router["cursor_field"]?.printed ?? "")")
        }
        let given = router["values"] ?? .null
        let values: [ConfigValue]
        if let list = given.array {
            values = try list.compactMap { try $0.string.map { try Template($0, scope).known } ?? $0 }
        } else {
            let template = try Template(given.printed, scope)
            guard let list = template.known?.array else {
                throw Untranslatable("the list \(given.printed) has no value; give it with --set")
            }
            values = list
        }
        guard !values.isEmpty else {
            throw Untranslatable("the list \(given.printed) is empty; give it with --set")
        }
        guard values.allSatisfy({ $0.array == nil && $0.members == nil }) else {
            throw Untranslatable("the list \(given.printed) has objects in it")
        }
        let name = LocalNames.identifier(field)
        draft.slice[field] = "{\(name)}"
        draft.add(name, .array(values.map { .string($0.printed) }), to: "each")
        if let option = router["request_option"] {
            try RequestPlace(option, scope.with(option)).put(.string("{\(name)}"), in: draft)
        }
    }

    /// If one parent is itself scanned by the other, that one is enough.
    private func inherit(from parent: EntityDraft) {
        draft.note("Airbyte requests every pair of two parents; bmo requests only the pairs that belong together")
        for (field, text) in draft.slice where text.hasPrefix("{parent.") {
            guard let own = parent.slice.first(where: { $0.value == text })?.key,
                let column = parent.attribute(keepingSliceField: own)
            else { continue }
            draft.slice[field] = "{parent.\(column)}"
        }
    }

    private mutating func substream(_ router: ConfigValue, _ scope: Scope) throws {
        let parents = router["parent_stream_configs"]?.array ?? []
        guard let config = parents.first, let stream = config["stream"] else {
            throw Untranslatable("it has no parent")
        }
        for other in parents.dropFirst() {
            draft.doubt(
                "the objects of \(other["stream"]?["name"]?.printed ?? "a second parent") are not used: bmo scans by one parent only"
            )
        }
        let parent = parent(stream)
        if let earlier = draft.parent {
            guard parent.parent?.draft === earlier.draft else {
                throw Untranslatable("it is scanned by two parents at once")
            }
            inherit(from: parent)
        }
        let scope = scope.with(config)
        guard let field = try Template(config["partition_field"]?.printed ?? "", scope).known?.printed,
            let key = try Template(config["parent_key"]?.printed ?? "", scope).known?.printed
        else { throw Untranslatable("only Python knows the name of its parent's key") }
        let separator: Character = key.contains("/") ? "/" : "."
        let path = key.split(separator: separator).map(String.init)
        let relationship = draft.columns.claim("of_" + parent.name.lowercased())
        draft.scansChangedParents = config["incremental_dependency"]?.isTruthy == true
        draft.parent = (relationship, parent, draft.scansChangedParents ? "incremental_dependency" : nil)
        let known = parent.attributes.count
        let column = parent.attribute(reading: path)
        keys.append(Key(field: field, column: column, parent: parent, isAdded: parent.attributes.count > known))
        draft.sliceObjects[field] = path
        draft.slice[field] = "{parent.\(column)}"
        if let pointer = config["lazy_read_pointer"]?.array, !pointer.isEmpty {
            draft.note(
                "Airbyte reads the first page from \(pointer.map(\.printed).joined(separator: ".")) of the parent; bmo requests it"
            )
        }
        if let option = config["request_option"] {
            try RequestPlace(option, scope.with(option)).put(.string("{parent.\(column)}"), in: draft)
        }
    }

    /// Gives each parent without a key the one to which its children refer, after the translation of the requests.
    ///
    /// If the key is an object, and the requests use only its members, then these are attributes of the parent, and the object
    /// itself is left out: a text cannot hold it.
    func finish() {
        for key in keys {
            var column = key.column
            if let member = draft.sliceMembers[key.field], let whole = draft.slice[key.field], !isSent(whole) {
                column = member
                draft.slice[key.field] = nil
                if key.isAdded { key.parent.attributes.removeAll { $0.name == key.column } }
            }
            guard key.parent.key.isEmpty else { continue }
            // Two parents with one key would have the same children.
            key.parent.key = [column]
            key.parent.settle(StreamTranslator.noKey)
            key.parent.keyComment = "a guess: its children refer to it by this"
            key.parent.doubt("the connector names no key; \(column) is a guess", ofValues: true)
        }
    }

    private func isSent(_ text: String) -> Bool {
        draft.settings.contains { $0.value.json.contains(text) }
            || draft.requestFields.contains { $0.value.json.contains(text) }
    }
}
