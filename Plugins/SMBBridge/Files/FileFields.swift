/// The fields of a file's record that the host reads.
struct FileFields: OptionSet {
    let rawValue: Int

    static let pathKey = FileFields(rawValue: 1 << 0)
    static let name = FileFields(rawValue: 1 << 1)
    static let folder = FileFields(rawValue: 1 << 2)
    static let fileExtension = FileFields(rawValue: 1 << 3)
    static let size = FileFields(rawValue: 1 << 4)
    static let modified = FileFields(rawValue: 1 << 5)
    static let created = FileFields(rawValue: 1 << 6)
    static let accessed = FileFields(rawValue: 1 << 7)
    static let changed = FileFields(rawValue: 1 << 8)
    static let isDirectory = FileFields(rawValue: 1 << 9)
    static let hidden = FileFields(rawValue: 1 << 10)
    static let readonly = FileFields(rawValue: 1 << 11)
    static let system = FileFields(rawValue: 1 << 12)
    static let archive = FileFields(rawValue: 1 << 13)
    static let reparsePoint = FileFields(rawValue: 1 << 14)
    static let attributes = FileFields(rawValue: 1 << 15)
    static let inode = FileFields(rawValue: 1 << 16)
    static let all = FileFields(rawValue: 1 << 17 - 1)

    private static let names: [String: FileFields] = [
        "path_key": .pathKey, "name": .name, "folder": .folder, "extension": .fileExtension, "size": .size,
        "modified": .modified, "created": .created, "accessed": .accessed, "changed": .changed,
        "is_directory": .isDirectory, "hidden": .hidden, "readonly": .readonly, "system": .system,
        "archive": .archive, "reparse_point": .reparsePoint, "attributes": .attributes, "inode": .inode,
    ]

    init(rawValue: Int) { self.rawValue = rawValue }

    /// Selects the fields with these names; nil selects all.
    init(_ names: Set<String>?) {
        guard let names else {
            self = .all
            return
        }
        self = names.reduce(into: []) { fields, name in fields.formUnion(Self.names[name] ?? []) }
    }
}
