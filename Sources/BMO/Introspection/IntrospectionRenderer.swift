internal import BridgeContract
internal import BridgeHost
internal import Model

/// Writes a bridge's offer as a commented configuration.
struct IntrospectionRenderer {
    let plugin: PluginListing
    let bridge: String
    /// The database's file.
    let database: String
    let offer: IntrospectionOffer
    /// The user's options, which precede the bridge's guesses.
    let options: [(key: String, value: ConfigValue)]
    /// The command, for the first line.
    let origin: String

    /// An entity with its names in the file.
    private struct Named {
        var entity: EntityDescription
        var name: String
        var attributes: [String] = []
        var key: [String] = []
        var relationships: [(name: String, of: EntityDescription.Relationship)] = []
        /// Why it is commented out; nil where it is ready.
        var obstacle: String?
    }

    /// The entities, and the place of the first one with each name: a document may describe thousands.
    private struct Entities {
        var all: [Named]
        let places: [String: Int]

        init(_ all: [Named]) {
            self.all = all
            places = Dictionary(
                all.enumerated().map { ($1.entity.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// Returns the file's text, and how many entities are ready.
    func render() -> (text: String, ready: Int, incomplete: Int) {
        let entities = named()
        let ready = entities.all.filter { $0.obstacle == nil }
        let rest = entities.all.filter { $0.obstacle != nil }
        var lines = [
            "# Written by \(YAMLText.line(origin))" + (offer.title.map { ": \(YAMLText.line($0))." } ?? "."),
            "# A comment after a line says how certain its guess is, and why. Then: bmo check && bmo sync",
            "version: 1", "database: \(YAMLText.scalar(database))", "", "bridges:",
        ]
        lines += describe(bridge: bridge, merged(offer.options, options), offer.notes)
        for part in offer.parts {
            let given = Self.withoutCredentials(options)
            lines += describe(bridge: bridgeName(of: part.name), merged(part.options, given), part.notes)
        }
        lines += ["", "entities:"]
        for entity in ready { lines += render(entity, among: entities).map { $0.isEmpty ? $0 : "  " + $0 } }
        if let first = lines.lastIndex(of: "entities:"), first + 1 < lines.count { lines.remove(at: first + 1) }
        if !rest.isEmpty {
            lines += ["", "  # Not ready: add what each one lacks, and remove the # in front."]
            for entity in rest { lines += render(entity, among: entities).map { $0.isEmpty ? $0 : "  # " + $0 } }
        }
        return (lines.joined(separator: "\n") + "\n", ready.count, rest.count)
    }

    private typealias Options = [(key: String, value: ConfigValue)]

    /// Returns the user's options for the parts of an API: its credentials are those of the main part.
    private static func withoutCredentials(_ options: Options) -> Options {
        options.filter { $0.key != "auth" }.map { name, value in
            guard ["headers", "parameters"].contains(name), let members = value.members else { return (name, value) }
            return (name, .object(members.filter { if case .secret = $0.value { false } else { true } }))
        }.filter { $0.value.members?.isEmpty != true }
    }

    private func merged(_ offered: Options, _ given: Options) -> Options {
        let own = Set(given.map(\.key))
        let guessed = offered.filter { !own.contains($0.key) || $0.key == "url" }
        return guessed
            + given.filter { option in !guessed.contains { $0.key == option.key } }.map { name, value in
                (name, name == "headers" ? Self.fields(of: offered, replacedBy: value) : value)
            }
    }

    /// Returns the header fields of an offer, with those of the user in place of fields with the same name.
    private static func fields(of offered: Options, replacedBy given: ConfigValue) -> ConfigValue {
        guard let own = given.members, let fields = offered.first(where: { $0.key == "headers" })?.value.members
        else { return given }
        let names = Set(own.map { $0.key.lowercased() })
        return .object(fields.filter { !names.contains($0.key.lowercased()) } + own)
    }

    private func describe(bridge name: String, _ options: Options, _ notes: [String]) -> [String] {
        ["  \(YAMLText.scalar(name)):", "    plugin: \(plugin.name)", "    options:"]
            + options.flatMap { YAMLText.lines($0.key, $0.value).map { "      " + $0 } }
            + notes.map { "      # \(YAMLText.line($0))" }
    }

    /// Returns the bridge of a part of the API; the main one for a part that the offer lacks.
    private func bridgeName(of part: String?) -> String {
        guard let part, offer.parts.contains(where: { $0.name == part }) else { return bridge }
        return "\(bridge)-\(part)"
    }

    // MARK: names

    private func named() -> Entities {
        var tables = LocalNames()
        var result = offer.entities.map { entity in Named(entity: entity, name: tables.claim(entity.name)) }
        for index in result.indices {
            var columns = LocalNames()
            let entity = result[index].entity
            for field in entity.fields {
                let name = columns.claim(field.localName ?? LocalNames.local(field.path))
                result[index].attributes.append(name)
                if field.isKey { result[index].key.append(name) }
            }
            for relationship in entity.relationships {
                result[index].relationships.append((columns.claim(relationship.name), relationship))
            }
            result[index].obstacle = entity.obstacle ?? (result[index].key.isEmpty ? "it has no key" : nil)
            if result[index].obstacle == nil, entity.parent != nil, !plugin.capabilities.contains("parent") {
                result[index].obstacle = "the bridge \(plugin.name) cannot list once per object of another entity"
            }
        }
        var entities = Entities(result)
        markChildren(&entities)
        return entities
    }

    /// Says of each scan per object of an entity that is not ready that it is not ready either.
    private func markChildren(_ entities: inout Entities) {
        var children: [Int: [(index: Int, target: String)]] = [:]
        for (index, named) in entities.all.enumerated() where named.obstacle == nil {
            guard let parent = named.entity.parent,
                let target = named.entity.relationships.first(where: { $0.name == parent })?.target,
                let place = entities.places[target]
            else { continue }
            children[place, default: []].append((index, target))
        }
        var waiting = entities.all.indices.filter { entities.all[$0].obstacle != nil }
        // Each entity has one parent, and so it is marked at most once.
        while let next = waiting.popLast() {
            for (index, target) in children[next] ?? [] {
                entities.all[index].obstacle = "it needs \(target), which is not ready"
                waiting.append(index)
            }
        }
    }

    // MARK: an entity

    private func render(_ named: Named, among all: Entities) -> [String] {
        let entity = named.entity
        var lines = [""]
        for note in entity.notes { lines.append("# \(YAMLText.line(note))") }
        if let obstacle = named.obstacle { lines.append("# \(YAMLText.line(obstacle))") }
        lines.append("\(YAMLText.scalar(named.name)):" + comment(entity.confidence))
        let key: ConfigValue =
            named.key.count == 1 ? .string(named.key[0]) : .array(named.key.map { .string($0) })
        lines.append("  bridge: \(YAMLText.scalar(bridgeName(of: entity.part)))")
        lines.append(named.key.isEmpty ? "  key: TODO" : "  key: \(YAMLText.flow(key))" + comment(entity.key))
        if let parent = named.relationships.first(where: { $0.of.name == entity.parent }) {
            lines.append("  parent: \(YAMLText.scalar(parent.name))  # one scan for each \(parent.of.target)")
        }
        if let absent = entity.absent.flatMap(AbsentRule.init) {
            lines.append("  absent: \(absent.rawValue)  # a declared member that a record lacks")
        }
        for proposal in entity.proposals where !proposal.isOfSection {
            lines += YAMLText.lines(proposal.name, proposal.value.configuration, comment: proposal.confidence?.comment)
                .map { "  # " + $0 }
        }
        let isWritten = entity.proposals.contains { $0.isOfSection && $0.name == "write" }
        if isWritten, !entity.proposals.contains(where: { $0.name == "writable" }) {
            lines.append("  # writable: true  # with write, below; without it nothing is sent")
        }
        lines.append("  attributes:")
        for (name, field) in zip(named.attributes, entity.fields) {
            lines.append("    \(YAMLText.scalar(name)): \(attribute(name, field))" + comment(field.confidence))
        }
        let relationships = named.relationships.map { ($0.name, $0.of, target(of: $0.of, from: named, all)) }
        if relationships.contains(where: { $0.2 != nil }) { lines.append("  relationships:") }
        for (name, relationship, target) in relationships {
            guard let target else { continue }
            lines.append(
                "    \(YAMLText.scalar(name)): \(self.relationship(name, relationship, target))"
                    + comment(relationship.confidence))
        }
        for (name, relationship, target) in relationships where target == nil {
            lines.append(
                "  # relationship \(YAMLText.line(name)): leads to \(YAMLText.line(relationship.target)), which is not ready"
            )
        }
        let section = entity.section.configuration
        lines.append("  \(plugin.name):" + (section.isEmpty ? " {}" : ""))
        for (name, value) in section {
            lines += YAMLText.lines(name, value, comment: entity.reason(name)?.comment).map { "    " + $0 }
        }
        for (name, guess) in entity.reasons.sorted(by: { $0.name < $1.name })
        where !section.contains(where: { $0.key == name }) {
            if let words = guess.comment { lines.append("    # \(name): \(YAMLText.line(words))") }
        }
        for proposal in entity.proposals where proposal.isOfSection {
            if let words = proposal.confidence?.comment { lines.append("    # \(YAMLText.line(words))") }
            lines += YAMLText.lines(proposal.name, proposal.value.configuration).map { "    # " + $0 }
        }
        return lines
    }

    private func comment(_ guess: EntityDescription.Confidence?) -> String {
        guess?.comment.map { "  # " + YAMLText.line($0) } ?? ""
    }

    private func attribute(_ name: String, _ field: EntityDescription.Field) -> String {
        var members: [(key: String, value: ConfigValue)] = [("type", .string(field.type))]
        if field.path != name { members.append(("from", .string(field.path))) }
        if let transform = field.transform { members.append(("transform", transform.configuration)) }
        if field.isReadOnly { members.append(("write", .bool(false))) }
        return members.count == 1 ? field.type : YAMLText.flow(.object(members))
    }

    private func relationship(_ name: String, _ relationship: EntityDescription.Relationship, _ target: String)
        -> String
    {
        var members: [(key: String, value: ConfigValue)] = [
            (relationship.isToMany ? "many" : "to", .string(target))
        ]
        if let path = relationship.path, path != name { members.append(("from", .string(path))) }
        if let inverse = relationship.inverse { members.append(("inverse", .string(inverse))) }
        return YAMLText.flow(.object(members))
    }

    /// Returns the target's name in the file; nil where the target is missing, or is commented out and this entity is
    /// not.
    private func target(of relationship: EntityDescription.Relationship, from: Named, _ all: Entities) -> String? {
        guard let found = all.places[relationship.target].map({ all.all[$0] }) else { return nil }
        return found.obstacle == nil || from.obstacle != nil ? found.name : nil
    }
}
