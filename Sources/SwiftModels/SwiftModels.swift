public import Model

/// The Swift source of a configuration's entities.
///
/// ```swift
/// let configuration = try ConfigurationFile(path: "bmo.yml").configuration()
/// print(try SwiftModels(configuration.model, of: "bmo.yml").source)
/// ```
public struct SwiftModels: Sendable {
    /// The access level of the types.
    public enum Access: String, Sendable {
        /// For the module that the file is in.
        case `internal`
        /// For all modules.
        case `public`

        var prefix: String { self == .public ? "public " : "" }
    }

    private let model: Model
    private let file: String
    private let access: Access
    private let types: [String: String]

    /// Prepares the source.
    ///
    /// - Parameters:
    ///   - model: The entities.
    ///   - file: The configuration's file name, for the first line.
    ///   - access: The access level of the types.
    /// - Throws: ``ConfigurationErrors`` for entities whose names give the same Swift name.
    public init(_ model: Model, of file: String, access: Access = .internal) throws(ConfigurationErrors) {
        self.model = model
        self.file = file
        self.access = access
        var types: [String: String] = [:]
        var faults: [Diagnostic] = []
        for entity in model.entities {
            let name = SwiftNames.type(entity.name)
            if let other = types.first(where: { $0.value == name })?.key {
                faults.append(
                    Diagnostic(
                        location: entity.location,
                        message:
                            "the entities \"\(other)\" and \"\(entity.name)\" would both be the Swift type \(name)",
                        remedy: "rename one of them, with \"renamed_from\" for its table"))
            }
            types[entity.name] = name
        }
        guard faults.isEmpty else { throw ConfigurationErrors(diagnostics: faults) }
        self.types = types
    }

    /// The text of the file.
    public var source: String {
        let level = access == .public ? "public " : ""
        let heading = [
            "// swift-format-ignore-file",
            "// Generated from \(file) by `bmo schema --swift`: change the configuration, and generate it again.", "",
            "\(level)import BMO", "\(level)import Foundation",
        ]
        return (heading + model.entities.flatMap { [""] + lines(of: $0) }).joined(separator: "\n") + "\n"
    }

    private func lines(of entity: Entity) -> [String] {
        let type = types[entity.name] ?? entity.name
        let members = SwiftMembers(entity, in: model, types: types)
        let p = access.prefix
        var conformances = [members.isWritable ? "WritableObject" : "BackedObject"]
        if members.identifier != nil { conformances.append("Identifiable") }
        var lines = [
            "/// An object of the entity `\(entity.name)`.",
            "\(p)struct \(type): \(conformances.joined(separator: ", ")) {",
            "    /// The entity's name in the configuration.",
            "    \(p)static let entityName = \(SwiftNames.literal(entity.name))",
        ]
        lines += keyLines(members, p)
        for member in members.all {
            lines += [
                "", "    /// The \(member.words) in queries and edits.",
                "    \(p)static let \(member.name) = \(member.descriptor(type))",
                "    /// \(member.summary)",
                "    \(p)\(member.isEditable ? "var" : "let") \(member.name): \(member.type)",
            ]
        }
        lines += ["", "    /// Creates a value, such as for a preview or a test."]
        let parameters = members.all.map { "\($0.name): \($0.type)\($0.isKey ? "" : " = nil")" }
        let own = members.isByRow ? ["objectKey: \(members.names.standard("Int"))"] : []
        lines.append("    \(p)init(")
        lines.append((own + parameters).map { "        \($0)" }.joined(separator: ",\n"))
        lines.append("    ) {")
        if members.isByRow { lines.append("        self.objectKey = objectKey") }
        lines += members.all.map { "        self.\($0.name) = \($0.name)" }
        lines += [
            "    }", "", "    /// Creates a value from an object of the local database.",
            "    \(p)init(_ object: LocalObject) throws(RequestError) {",
        ]
        lines += reading(members, type)
        lines.append("    }")
        if members.isWritable {
            lines += [
                "", "    /// Writes the values that can be edited.",
                "    \(p)func write(to values: inout ObjectValues) {",
            ]
            lines += members.all.filter(\.isEditable).map { "        values.set(Self.\($0.name), self.\($0.name))" }
            lines.append("    }")
        }
        return lines + ["}"]
    }

    /// The key's type, and the properties that give the key.
    private func keyLines(_ members: SwiftMembers, _ p: String) -> [String] {
        var lines = [""]
        switch members.key.count {
        case 0:
            lines += [
                "    /// The number of the object's row.", "    \(p)let objectKey: \(members.names.standard("Int"))",
            ]
        case 1:
            let key = members.key[0]
            lines += ["    /// The object's key.", "    \(p)var objectKey: \(key.type) { self.\(key.name) }"]
            if members.identifier == .key {
                lines += ["    /// The object's key.", "    \(p)var id: \(key.type) { self.\(key.name) }"]
            }
        default:
            let names = members.key.map { SwiftNames.literal($0.source) }.joined(separator: ", ")
            let values = members.key.map { "self.\($0.name).localValue" }.joined(separator: ", ")
            let arguments = members.key.map { "\($0.name): self.\($0.name)" }.joined(separator: ", ")
            lines += [
                "    /// The values that identify an object.", "    \(p)struct Key: BackedKey {",
                "        /// The names of the key's attributes.",
                "        \(p)static let attributeNames = [\(names)]",
            ]
            for key in members.key {
                lines += ["        /// A part of the key.", "        \(p)let \(key.name): \(key.type)"]
            }
            lines += [
                "", "        /// Creates a key.",
                "        \(p)init(\(members.key.map { "\($0.name): \($0.type)" }.joined(separator: ", "))) {",
            ]
            lines += members.key.map { "            self.\($0.name) = \($0.name)" }
            lines += [
                "        }", "", "        /// Creates a key from its values; nil if they don't fit.",
                "        \(p)init?(localValues: [LocalValue]) {",
                "            guard localValues.count == \(members.key.count),",
            ]
            lines += members.key.enumerated().map { index, key in
                let end = index == members.key.count - 1 ? "" : ","
                return "                let value\(index) = \(key.type)(localValue: localValues[\(index)])\(end)"
            }
            lines.append("            else { return nil }")
            lines += members.key.enumerated().map { "            self.\($1.name) = value\($0)" }
            lines += [
                "        }", "", "        /// The values in the key's order.",
                "        \(p)var localValues: [LocalValue] { [\(values)] }", "    }", "",
                "    /// The object's key.", "    \(p)var objectKey: Key { Key(\(arguments)) }",
            ]
            if members.identifier == .key {
                lines += ["    /// The object's key.", "    \(p)var id: Key { objectKey }"]
            }
        }
        return lines
    }

    /// The statements that read a local object.
    private func reading(_ members: SwiftMembers, _ type: String) -> [String] {
        var lines: [String] = []
        switch members.key.count {
        case 0: lines.append("        self.objectKey = try object.key(of: \(type).self)")
        case 1: lines.append("        self.\(members.key[0].name) = try object.key(of: \(type).self)")
        default:
            lines.append("        let key = try object.key(of: \(type).self)")
            lines += members.key.map { "        self.\($0.name) = key.\($0.name)" }
        }
        for member in members.all where !member.isKey {
            let function =
                switch member.kind {
                case .attribute: "value"
                case .toOne: "reference"
                case .toMany: "objects"
                }
            lines.append("        self.\(member.name) = try object.\(function)(of: Self.\(member.name))")
        }
        return lines
    }
}
