import BridgeKit

/// The file or folder that an edit leads to, which decides the values that the edit can have.
struct FileOutcome {
    let section: FileSection
    let path: SharePath
    let isFolder: Bool
    /// Whether the edit creates it.
    let isNew: Bool
    /// The sizes that the edit may state: that of a text with a byte order mark, and without.
    let sizes: [UInt64]

    /// Facts that the server decides, which a deleted file that is created again sends as it had them.
    private static let decidedByServer: Set<String> = [
        "created", "accessed", "changed", "inode", "attributes", "owner", "group", "sha256", "archive",
    ]
    private static let flags: Set<String> = ["hidden", "readonly", "system", "reparse_point"]

    /// Refuses the values that cannot be set, so that none is lost in silence.
    ///
    /// - Throws: ``BridgeError`` for the first such value.
    func check(_ values: BridgeOptions) throws {
        let facts = self.facts
        for name in values.names {
            // A new object has no value where null is sent.
            if isNew, !values.has(name) { continue }
            switch name {
            case "path":
                guard values.string(name) != nil else { throw contradiction(name, path.text, values) }
            case "content": try checkContent(values)
            case "modified":
                guard isNew || values.microseconds(name) != nil else {
                    throw BridgeError(
                        .configuration, "the modified of \(path.text) is not a time",
                        remedy: "write it like 2026-11-21T07:08:08Z")
                }
            case "folder":
                // Null is the root.
                let folder = path.folder.joined(separator: "/")
                guard values.isSame(name, as: folder) || folder.isEmpty && !values.has(name) else {
                    throw contradiction(name, folder, values)
                }
            case "size":
                let texts = sizes.map { "\($0)" }
                guard texts.contains(where: { values.isSame(name, as: $0) }) else {
                    throw contradiction(name, texts.first, values, remedy: "set content, whose bytes decide the size")
                }
            case _ where facts.keys.contains(name):
                let fact: String? = facts[name] ?? nil
                guard values.isSame(name, as: fact) else { throw contradiction(name, fact, values) }
            default:
                if isNew, Self.decidedByServer.contains(name) { continue }
                if isNew, Self.flags.contains(name), values.isSame(name, as: "false") { continue }
                throw refusal(of: name)
            }
        }
    }

    /// Refuses a new place where no scan would find the object, or where Windows clients could not open it.
    func checkPlace() throws {
        try path.checkNewNames()
        let listing = section.listing
        try path.checkSelected(by: listing.patterns)
        guard listing.kinds.include(directory: isFolder) else {
            throw BridgeError(
                .configuration,
                "the next sync would not find \(path.text): the entity reads no \(isFolder ? "folders" : "files")",
                remedy: "set directories: true, or use an entity of \(isFolder ? "folders" : "files")")
        }
    }

    /// What the path, and the kind of thing at it, decide.
    private var facts: [String: String?] {
        let name = path.names.last ?? ""
        var facts: [String: String?] = [
            "name": name, "extension": isFolder ? "" : name.fileExtension, "path_key": FileRecord.key(path.text),
            "is_directory": isFolder ? "true" : "false",
        ]
        let captures = section.listing.patterns.captures(of: path.names) ?? [:]
        for name in section.listing.patterns.captureNames { facts.updateValue(captures[name], forKey: name) }
        return facts
    }

    private func checkContent(_ values: BridgeOptions) throws {
        guard section.hasWritableContent else { throw refusal(of: "content") }
        guard !isFolder || !values.has("content") else {
            throw BridgeError(.unsupported, "\(path.text) is a folder, which has no content")
        }
    }

    private func contradiction(
        _ name: String, _ fact: String?, _ values: BridgeOptions, remedy: String = "set path, name or folder"
    ) -> BridgeError {
        func shown(_ text: String?) -> String { text.map { $0.isEmpty ? "\"\"" : $0 } ?? "null" }
        return BridgeError(
            .unsupported, "\(name) of \(path.text) is \(shown(fact)), and cannot become \(shown(values.string(name)))",
            remedy: remedy)
    }

    private func refusal(of name: String) -> BridgeError {
        let what = isFolder ? "a folder" : "a file"
        let names = (section.hasWritableContent && !isFolder ? "content, " : "") + "path, name, folder and modified"
        let isContent = name == "content" && section.listing.kinds != .folders
        return BridgeError(
            .unsupported, "bmo cannot set \(name) of \(what)",
            remedy: isContent
                ? "add content: text or content: data to the section"
                : "it can set \(names); an attribute with write: false is never sent")
    }
}
