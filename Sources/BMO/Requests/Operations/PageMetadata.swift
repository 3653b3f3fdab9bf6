internal import TextFormats

/// The remote's information about a page, or about the list of a relationship.
public struct PageMetadata: Sendable, Equatable {
    /// The remote's total number of records.
    public var total: Int64?
    /// The URL or path, without secrets.
    public var location: String?
    /// Further information: a JSON object's text.
    public var json: String?

    /// Returns a value of ``json`` by its name: a list or an object as JSON; nil where there is none.
    public subscript(name: String) -> LocalValue? {
        guard let json, let node = ObjectNode.value(.json(json)).member(name) else { return nil }
        if case .value(let value) = node { return value }
        return .json(node.jsonText)
    }
}

extension PageMetadata {
    /// Creates the metadata of a list from values as JSON; `total` is its total, too, if it is a number.
    init(values: [(name: String, json: String)]) {
        var text = ""
        for (name, value) in values {
            text += text.isEmpty ? "{" : ","
            text.appendJSONString(name)
            text += ":" + value
        }
        json = text.isEmpty ? nil : text + "}"
        if let value = values.first(where: { $0.name == "total" })?.json {
            let number = value.hasPrefix("\"") ? value.dropFirst().dropLast() : value[...]
            let count = Int64(number) ?? Double(number).flatMap { Int64(exactly: $0) }
            total = count.flatMap { $0 < 0 ? nil : $0 }
        }
    }

    /// Returns the members of two JSON objects; of those that both have, the later one's.
    static func union(of earlier: String?, and later: String?) -> String? {
        guard let earlier, let later, case .members(let old)? = ObjectNode.value(.json(earlier)).opened,
            case .members(let new)? = ObjectNode.value(.json(later)).opened
        else { return later ?? earlier }
        let names = Set(new.map(\.name))
        return ObjectNode.members(old.filter { !names.contains($0.name) } + new).jsonText
    }
}
