internal import Model

/// An entity of the configuration while its stream is translated.
///
/// A reference: a stream that is walked for each of its objects may add attributes to it.
final class EntityDraft {
    struct Attribute {
        var name: String
        var type: String
        /// The path in the record; nil for a constant.
        var path: ConfigValue?
        var constant: ConfigValue?
        var transform: ConfigValue?
        var comment: String?
    }

    /// A setting of the section, with a comment behind it.
    struct Setting {
        var name: String
        var value: ConfigValue
        var comment: String?
    }

    let stream: String
    var name = ""
    var bridge = ""
    /// Whether the entity is a stream of the connector, and not only the parent of one.
    var isStream = true
    var attributes: [Attribute] = []
    var columns = LocalNames()
    var key: [String] = []
    var keyComment: String?
    var keepsExtra = true
    /// The relationship to the parent whose objects the stream is walked for.
    var parent: (relationship: String, draft: EntityDraft, comment: String?)?
    var incremental: [(key: String, value: ConfigValue)] = []
    var settings: [Setting] = []
    var requestFields: [(key: String, value: ConfigValue)] = []
    /// Comments at the head of the entity, and in its section.
    var notes: [String] = []
    var sectionNotes: [String] = []
    /// What may differ from what Airbyte does.
    private(set) var doubts: [String] = []
    /// Those of ``doubts`` that are about which records there are.
    private(set) var rowDoubts: Set<String> = []
    /// What prevents the entity from being synced.
    var obstacles: [String] = []
    /// The format of the times that its requests send, once one is sent: a section has one format.
    var timeFormat: String?
    /// The fields of the slices, with the text of the configuration that stands for each.
    var slice: [String: String] = [:]

    init(stream: String) { self.stream = stream }

    var isCarried: Bool { obstacles.isEmpty && (parent?.draft.isCarried ?? true) }

    func set(_ name: String, _ value: ConfigValue, comment: String? = nil) {
        if let index = settings.firstIndex(where: { $0.name == name }) {
            settings[index] = Setting(name: name, value: value, comment: comment ?? settings[index].comment)
        } else {
            settings.append(Setting(name: name, value: value, comment: comment))
        }
    }

    func setting(_ name: String) -> ConfigValue? { settings.first { $0.name == name }?.value }

    /// Adds a member to a setting that is an object.
    func add(_ member: String, _ value: ConfigValue, to name: String) {
        set(name, (setting(name) ?? .object([])).setting(member, value))
    }

    /// - Parameter ofValues: Whether only values may differ: the objects that a stream is walked for are the same then.
    func doubt(_ text: String, ofValues: Bool = false) {
        if !doubts.contains(text) { doubts.append(text) }
        if !ofValues { rowDoubts.insert(text) }
    }

    func obstacle(_ text: String) { if !obstacles.contains(text) { obstacles.append(text) } }

    func note(_ text: String) { if !notes.contains(text) { notes.append(text) } }

    func sectionNote(_ text: String) { if !sectionNotes.contains(text) { sectionNotes.append(text) } }

    /// Returns the attribute that reads a path, which is added as a text if there is none.
    func attribute(reading path: [String], type: String = "text") -> String {
        let text = Self.path(path)
        let found = attributes.first { attribute in
            attribute.path == .string(text) && attribute.type != "json" && attribute.constant == nil
        }
        if let found { return found.name }
        let name = columns.claim(LocalNames.local(text))
        attributes.append(Attribute(name: name, type: type, path: .string(text)))
        return name
    }

    /// Returns the attribute that keeps a field of the slice in which a record was found.
    func attribute(keepingSliceField field: String) -> String? {
        guard let value = slice[field] else { return nil }
        let member = "@\(field)"
        if !requestFields.contains(where: { $0.key == member }) {
            requestFields.append((member, .string(value)))
        }
        return attribute(reading: [member])
    }

    /// Returns a path of members as a mapping reads it.
    static func path(_ names: [String]) -> String {
        names.map { name in
            name == "$" ? "\\$" : name.replacing("\\", with: "\\\\").replacing(".", with: "\\.")
        }.joined(separator: ".")
    }
}
