internal import Foundation
internal import Model
internal import RecordBatch

/// The file of ``LearnedAttributes``, which keeps types that were changed by hand.
struct LearnedFile {
    private let path: String
    private var entities: [(key: String, value: ConfigValue)]

    /// Reads the file; without one, nothing was learned yet.
    ///
    /// - Throws: ``ConfigurationErrors`` for a file that cannot be read: writing it again would lose manual changes.
    init(path: String) throws {
        self.path = path
        guard FileManager.default.fileExists(atPath: path) else {
            entities = []
            return
        }
        func fault(_ message: String, _ remedy: String) -> ConfigurationErrors {
            let place = SourceLocation(file: path, line: 1, column: 1)
            return ConfigurationErrors(diagnostics: [Diagnostic(location: place, message: message, remedy: remedy)])
        }
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw fault("the file cannot be read as UTF-8 text", "restore it, or delete it to have it inferred again")
        }
        let file = ConfigurationFile(text: text, path: path)
        guard file.faults.isEmpty else { throw ConfigurationErrors(diagnostics: file.faults) }
        let root = file.value ?? .null
        guard root == .null || root.members != nil else {
            throw fault("the file is not a mapping of entities", "restore it, or delete it to have it inferred again")
        }
        entities = root.members ?? []
    }

    /// The file's name, for messages.
    var name: String { URL(filePath: path).lastPathComponent }

    func has(_ entity: String) -> Bool { entities.contains { $0.key == entity } }

    /// Returns the names of an entity's attributes.
    func names(of entity: String) -> [String] {
        entities.first { $0.key == entity }?.value.members?.map(\.key) ?? []
    }

    /// Returns the attributes of an entity with the member that each reads and its type.
    func reads(of entity: String) -> [(name: String, member: String, type: String)] {
        (entities.first { $0.key == entity }?.value.members ?? []).compactMap { name, value in
            guard let type = value.string ?? value["type"]?.string else { return nil }
            let path = RemotePath(value["from"]?.string ?? name)?.components ?? []
            return path.count == 1 ? (name, path[0], type) : nil
        }
    }

    mutating func add(_ attributes: [(key: String, value: ConfigValue)], to entity: String) {
        guard let index = entities.firstIndex(where: { $0.key == entity }) else {
            return entities.append((entity, .object(attributes)))
        }
        entities[index].value = .object((entities[index].value.members ?? []) + attributes)
    }

    /// Replaces the file atomically, so that no reader sees a part of it.
    func write() throws {
        var lines = [
            "# The attributes of entities with `attributes: auto`, as `bmo sync` found them. This file belongs to the configuration:",
            "# keep them together. Types may be changed here. An attribute that is removed comes back with the next sync, unless the entity has `extra: false`.",
        ]
        for (entity, attributes) in entities {
            lines.append("\(YAMLText.scalar(entity)):")
            for (name, value) in attributes.members ?? [] {
                lines.append("  \(YAMLText.scalar(name)): \(YAMLText.flow(value))")
            }
        }
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: path), options: .atomic)
    }
}

/// The members of records, in order of first appearance.
struct LearnedMembers {
    private var names: [String] = []
    private var kinds: [String: LearnedKinds] = [:]

    var all: [(name: String, kinds: LearnedKinds)] { names.map { ($0, kinds[$0] ?? LearnedKinds()) } }

    mutating func note(_ record: BatchValue) {
        for (name, value) in record.members {
            take(name)
            kinds[name]?.note(value)
        }
    }

    mutating func note(_ name: String, type: String, text: String?) {
        take(name)
        kinds[name]?.note(type: type, text: text)
    }

    private mutating func take(_ name: String) {
        guard kinds[name] == nil else { return }
        names.append(name)
        kinds[name] = LearnedKinds()
    }
}

/// Maps member names to valid column names.
struct LearnedNames {
    private var names = LocalNames()
    /// The members that the entity's relationships read.
    private let related: Set<String>
    /// How many more attributes fit.
    private var room: Int

    /// The limit of learned attributes per entity; SQLite's tables have room for 2,000 columns.
    private static let most = 500
    /// The length limit of a member name that becomes a column.
    private static let maxNameLength = 200

    /// Reserves the names of existing attributes and relationships.
    ///
    /// - Parameter known: The names of the entity's existing attributes.
    init(_ entity: ConfigValue, _ defaults: ConfigValue?, known: [String] = []) {
        let own = entity["relationships"]?.members ?? []
        let relationships =
            own + (defaults?["relationships"]?.members ?? []).filter { usual in !own.contains { $0.key == usual.key } }
        related = Set(
            relationships.compactMap { name, value in
                RemotePath(value["from"]?.string ?? name)?.components.first
            })
        room = Self.most - known.count
        names.reserve(known + relationships.map(\.key) + [Entity.extraColumn])
    }

    /// Returns the attributes of a configuration that read members.
    ///
    /// Members that were null in every record, or beyond the limit, are left out: the column `extra` keeps them.
    mutating func attributes(
        _ members: [(name: String, kinds: LearnedKinds)]
    ) -> [(key: String, value: ConfigValue)] {
        members.compactMap { member, kinds in
            guard room > 0, kinds.type != nil, !related.contains(member), let path = Self.path(to: member) else {
                return nil
            }
            room -= 1
            let name = names.claim(member)
            return kinds.attribute(from: name == path ? nil : path).map { (name, $0) }
        }
    }

    /// Returns the path by which a configuration reads a member; nil for a name that a path cannot express, or that has
    /// another meaning there.
    private static func path(to member: String) -> String? {
        let path = RemotePath([member]).description
        guard RemotePath(path)?.components == [member], member.utf8.count <= maxNameLength,
            !path.hasPrefix("$["), !path.contains("[*]"), !RemotePath.surroundings.contains(member),
            member.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
        else { return nil }
        return path
    }
}
