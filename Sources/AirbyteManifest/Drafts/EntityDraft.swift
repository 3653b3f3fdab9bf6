internal import Model

/// An entity of the configuration while its stream is translated.
///
/// A class, because the translation of a child stream may add attributes to its parent.
final class EntityDraft {
    struct Attribute {
        var name: String
        var type: String
        /// The path in the record; nil for a constant.
        var path: ConfigValue?
        var constant: ConfigValue?
        var transform: ConfigValue?
        var comment: String?
        /// The member at the top of the source's record for which it stands, whatever it reads.
        var member: String?

        /// Lets the first of several paths that has a value count, before the other transformers.
        mutating func takeFirst() {
            switch transform {
            case nil: transform = "first"
            case .array(let steps)?: if steps.first != .string("first") { transform = .array(["first"] + steps) }
            case .string("first")?: break
            case let step?: transform = .array(["first", step])
            }
        }
    }

    /// A setting of the section, with the comment that follows it.
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
    /// Where the members of the source's records come from.
    var members = RecordMembers()
    var key: [String] = []
    var keyComment: String?
    var keepsExtra = true
    /// The relationship to the parent, if the stream is scanned by parent.
    var parent: (relationship: String, draft: EntityDraft, comment: String?)?
    /// Whether it is scanned only by the parents that changed.
    var scansChangedParents = false
    /// What happens to objects that a listing lacks; nil for bmo's default.
    var deletes: String?
    var incremental: [(key: String, value: ConfigValue)] = []
    var settings: [Setting] = []
    var requestFields: [(key: String, value: ConfigValue)] = []
    /// Comments at the head of the entity, and in its section.
    var notes: [String] = []
    var sectionNotes: [String] = []
    /// How the result may differ from Airbyte's.
    private(set) var doubts: [String] = []
    /// Those ``doubts`` that are about which records a sync finds, and not about their values.
    private(set) var rowDoubts: Set<String> = []
    /// What prevents the entity from being synced.
    var obstacles: [String] = []
    /// The format of times in the requests, once one is known: a section can have only one.
    var timeFormat: String?
    /// Whether `{until}` stands for the present in one of the requests.
    var sendsNow = false
    /// The fields of Airbyte's slices, with the configuration's text for each.
    var slice: [String: String] = [:]
    /// The paths in the parent's records that the fields of Airbyte's slices hold, if a field is an object or a list.
    var sliceObjects: [String: [String]] = [:]
    /// The parent's attributes for the members of such an object that requests use, by the slice's field.
    var sliceMembers: [String: String] = [:]

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

    /// - Parameter ofValues: Whether only values may differ, so that child streams are scanned for the same objects.
    func doubt(_ text: String, ofValues: Bool = false) {
        if !doubts.contains(text) { doubts.append(text) }
        if !ofValues { rowDoubts.insert(text) }
    }

    /// Removes a doubt for which a later part of the translation has an answer.
    func settle(_ text: String) {
        doubts.removeAll { $0 == text }
        rowDoubts.remove(text)
    }

    func obstacle(_ text: String) { if !obstacles.contains(text) { obstacles.append(text) } }

    func note(_ text: String) { if !notes.contains(text) { notes.append(text) } }

    func sectionNote(_ text: String) { if !sectionNotes.contains(text) { sectionNotes.append(text) } }

    /// Returns the attribute that reads a path of the source's records; adds one of the type text if none does.
    func attribute(reading path: [String], type: String = "text") -> String {
        let own = attributes.first { attribute in
            path.count == 1 && attribute.member == path[0] && attribute.type != "json" && attribute.constant == nil
        }
        if let own { return own.name }
        var given = path
        if case .path(let origin) = members.origin(of: path) { given = origin }
        let text = Self.path(given)
        let found = attributes.first { attribute in
            attribute.path == .string(text) && attribute.type != "json" && attribute.constant == nil
        }
        if let found { return found.name }
        let name = columns.claim(LocalNames.local(text))
        let member = path.count == 1 && given == path ? path[0] : nil
        attributes.append(Attribute(name: name, type: type, path: .string(text), member: member))
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

    /// Returns a path of members in the syntax of `from`.
    static func path(_ names: [String]) -> String {
        names.map { name in
            name == "$" ? "\\$" : name.replacing("\\", with: "\\\\").replacing(".", with: "\\.")
        }.joined(separator: ".")
    }
}
