internal import Model

/// Translates partition routers into `parent` and the section's `each`.
struct Partitions {
    let draft: EntityDraft
    /// Translates the stream of a parent.
    let parent: (ConfigValue) -> EntityDraft

    func apply(_ router: ConfigValue?, _ scope: Scope) {
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

    private func substream(_ router: ConfigValue, _ scope: Scope) throws {
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
        if parent.key.isEmpty {
            // Two parents with one key would have the same children.
            parent.key = [parent.attribute(reading: path)]
            parent.settle(StreamTranslator.noKey)
            parent.keyComment = "a guess: its children refer to it by this"
            parent.doubt("the connector names no key; \(parent.key[0]) is a guess", ofValues: true)
        }
        let relationship = draft.columns.claim("of_" + parent.name.lowercased())
        var comment: String?
        if config["incremental_dependency"]?.isTruthy == true {
            comment = "Airbyte scans changed parents only; bmo scans all of them"
        }
        draft.parent = (relationship, parent, comment)
        let column = parent.attribute(reading: path)
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
}
