internal import ImportTestSupport
package import Mapping
internal import Model

/// What a changed configuration gives another name, in a model of cities, some of which are ports.
package enum NameChange: CaseIterable, Sendable {
    case entity, subentity, attribute, list

    /// The name before.
    package var old: String {
        switch self {
        case .entity: "City"
        case .subentity: "Port"
        case .attribute: "size"
        case .list: "twins"
        }
    }

    /// The name after.
    package var new: String {
        switch self {
        case .entity: "Town"
        case .subentity: "Harbour"
        case .attribute: "area"
        case .list: "friends"
        }
    }

    /// The model before.
    package static func model() throws -> CompiledModel { try model(after: nil) }

    /// The model after, which says what the name was.
    package func model() throws -> CompiledModel { try Self.model(after: self) }

    private static func model(after change: NameChange?) throws -> CompiledModel {
        func name(_ part: NameChange) -> String { part == change ? part.new : part.old }
        func oldName(_ part: NameChange) -> String? { part == change ? part.old : nil }
        var size = Attribute.of(name(.attribute), .text, from: ["size"])
        size.renamedFrom = oldName(.attribute)
        var twins = Relationship.many(name(.list), name(.entity), from: ["twins"])
        twins.renamedFrom = oldName(.list)
        var city = Entity(name(.entity), key: ["id"], [.of("id", .integer), size], [twins])
        city.renamedFrom = oldName(.entity)
        var port = Entity(name(.subentity), key: [], [.of("quay", .text)])
        port.superentity = name(.entity)
        // Ports come in the listing of cities.
        port.isScanned = false
        port.matcher = Matcher([.has(RemotePath(["quay"]))])
        port.renamedFrom = oldName(.subentity)
        return try .of(city, port)
    }
}
