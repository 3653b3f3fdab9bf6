/// The fields of a file's record that the host reads; those that belong together stay together.
struct FileFields: OptionSet {
    let rawValue: Int

    static let pathKey = FileFields(rawValue: 1)
    static let name = FileFields(rawValue: 2)
    static let folder = FileFields(rawValue: 4)
    static let fileExtension = FileFields(rawValue: 8)
    static let size = FileFields(rawValue: 16)
    static let modified = FileFields(rawValue: 32)
    static let otherTimes = FileFields(rawValue: 64)
    static let attributes = FileFields(rawValue: 128)
    static let inode = FileFields(rawValue: 256)
    static let all = FileFields(rawValue: 511)

    private static let names: [String: FileFields] = [
        "path_key": .pathKey, "name": .name, "folder": .folder, "extension": .fileExtension, "size": .size,
        "modified": .modified, "created": .otherTimes, "accessed": .otherTimes, "changed": .otherTimes,
        "is_directory": .attributes, "hidden": .attributes, "readonly": .attributes, "system": .attributes,
        "archive": .attributes, "reparse_point": .attributes, "attributes": .attributes, "inode": .inode,
    ]

    init(rawValue: Int) { self.rawValue = rawValue }

    /// The fields of these names; nil is all.
    init(_ names: Set<String>?) {
        guard let names else {
            self = .all
            return
        }
        self = names.reduce(into: []) { fields, name in fields.formUnion(Self.names[name] ?? []) }
    }
}
