/// The members of the top-level `defaults:`, which apply to every entity that does not set them.
struct EntityDefaults {
    fileprivate var members: [ConfigurationReader.Member] = []

    /// The defaults that are merged member by member.
    fileprivate static let merged = [EntityKeys.attributes.name, EntityKeys.relationships.name]
    /// The keys that are specific to one entity.
    fileprivate static let ownKeys = EntityKeys.withoutDefault.map(\.name)
}

extension ConfigurationReader {
    /// The keys that do not apply to an entity without a listing of its own.
    private static let listingKeys = (EntityKeys.ofListings + ScanKeys.all).map(\.name)

    /// Reads `defaults: {bridge: api, key: id, deletes: soft, rest: {...}}`.
    mutating func readDefaults(_ member: Member, bridges: [BridgeConfiguration]) -> EntityDefaults {
        let members = members(of: member.value, "\"defaults\"", at: member.value.mark) ?? []
        let plugins = Set(bridges.map(\.plugin)).subtracting([""]).sorted()
        let valid = EntityKeys.shape.names.filter { !EntityDefaults.ownKeys.contains($0) } + plugins
        var result = EntityDefaults()
        for member in members {
            if EntityDefaults.ownKeys.contains(member.name) {
                error(
                    at: member.key.mark, "\(quoted(member.name)) cannot be a default of all entities",
                    "set it for the entity in question")
            } else if !valid.contains(member.name) {
                report(unknown: [member], valid: valid, of: "\"defaults\"")
            } else {
                result.members.append(member)
            }
        }
        return result
    }

    /// Returns an entity's members and the defaults that it does not set: those of its bridge's section, then those of
    /// the file.
    ///
    /// A section, the attributes and the relationships are merged member by member. A sub-entity takes no defaults: it
    /// inherits from its super-entity.
    func adding(
        _ defaults: EntityDefaults, to entity: Member, _ members: [Member], bridges: [BridgeConfiguration]
    ) -> [Member] {
        let isSubentity = members.contains { $0.name == EntityKeys.extends.name }
        let given = isSubentity ? [] : defaults.members
        let name = (members + given).first { $0.name == EntityKeys.bridge.name }?.value.scalarText
        let bridge = bridges.first { $0.name == name }
        let hasNoListing = members.contains { $0.name == EntityKeys.listing.name }
        var result = hasNoListing ? members : addingSection(of: bridge, to: members, at: entity.key.mark)
        let plugin = bridge?.plugin
        for member in given {
            let isSection = !EntityKeys.shape.names.contains(member.name)
            if isSection, member.name != plugin { continue }
            if hasNoListing, isSection || Self.listingKeys.contains(member.name) { continue }
            if member.name == EntityKeys.key.name, members.contains(where: { $0.name == EntityKeys.unique.name }) {
                continue
            }
            guard let index = result.firstIndex(where: { $0.name == member.name }) else {
                result.append(member)
                continue
            }
            guard isSection || EntityDefaults.merged.contains(member.name) else { continue }
            result[index].value = Self.merging(member.value, into: result[index].value)
        }
        return result
    }

    /// Returns a mapping extended by the missing pairs of another one.
    ///
    /// The defaults come first.
    static func merging(_ defaults: YAMLNode, into own: YAMLNode) -> YAMLNode {
        guard case .mapping(let more) = defaults.content else { return own }
        if own.isNull { return YAMLNode(content: .mapping(more), mark: own.mark, count: defaults.count, height: 1) }
        guard case .mapping(let pairs) = own.content else { return own }
        let names = Set(pairs.compactMap(\.key.scalarText).map { Array($0.utf8) })
        let missing = more.filter { pair in pair.key.scalarText.map { !names.contains(Array($0.utf8)) } ?? false }
        var result = own
        result.content = .mapping(missing + pairs)
        result.count += missing.reduce(0) { $0 + $1.key.count + $1.value.count }
        result.height = max(own.height, defaults.height)
        return result
    }
}
