internal import BridgeContract
internal import BridgeJSON
internal import Inference

/// A guess at the fields that identify a record.
struct KeyGuess: Sendable {
    var paths: [[String]]
    var confidence: Confidence

    /// - Parameters:
    ///   - entity: The entity's name.
    ///   - parameter: The variable in the path of a single object, such as `petId`.
    static func make(_ item: ValueShape, entity: String, parameter: String?) -> KeyGuess? {
        func member(_ name: String) -> String? {
            if let exact = item.properties.first(where: { $0.name == name && usable($0.shape) }) { return exact.name }
            return item.properties.first { $0.name.lowercased() == name.lowercased() && usable($0.shape) }?.name
        }
        func one(_ name: String, _ confidence: Confidence) -> KeyGuess {
            KeyGuess(paths: [[name]], confidence: confidence)
        }
        if item["@key"] != nil { return one("@key", .high("the member name of each record in the reply")) }
        if let found = member("@value") { return one(found, .high("the reply is a list of plain values")) }
        let proof = item.properties.contains { $0.shape.seen != nil } ? ", unique in the sample" : ""

        for name in KeyVocabulary.certain.names(.member) {
            if let found = member(name) { return one(found, .high("named \(found)\(proof)")) }
        }
        if let parameter,
            let found = member(parameter)
                ?? item.properties.first(where: {
                    NameWords.plain($0.name) == NameWords.plain(parameter) && usable($0.shape)
                })?.name
        {
            return one(found, .high("the path of a single object uses it"))
        }
        let own = NameWords.plain(entity)
        for ending in KeyVocabulary.endings.names(.member) {
            if let found = item.properties.first(where: { NameWords.plain($0.name) == own + ending && usable($0.shape) }
            ) {
                return one(found.name, .high("named after the entity\(proof)"))
            }
        }
        for path in [
            ["metadata", "uid"], ["metadata", "id"], ["sys", "id"], ["_id", "$oid"], ["meta", "id"], ["node", "id"],
            ["resource", "id"], ["data", "id"], ["metadata", "name"],
        ] {
            if let shape = item[path], usable(shape) {
                return KeyGuess(
                    paths: [path], confidence: .medium("\(path.joined(separator: ".")) identifies such objects")
                )
            }
        }
        for name in KeyVocabulary.likely.names(.member) {
            if let found = member(name) { return one(found, .medium("named \(found)\(proof)")) }
        }
        // Wrappers hold the members of map features and search hits.
        for wrapper in ["attributes", "properties", "_source", "data"] {
            guard let inner = item[wrapper], inner.isObject,
                let name = ["id", "uuid", "guid", "objectid", "fid", "globalid", "code", "slug"].lazy.compactMap({
                    name in
                    inner.properties.first { $0.name.lowercased() == name && usable($0.shape) }?.name
                }).first
            else { continue }
            return KeyGuess(paths: [[wrapper, name]], confidence: .medium("named \(name), in \(wrapper)\(proof)"))
        }
        // Of several candidates, prefer the member that every record must have.
        let endings = item.properties.filter { name, shape in
            usable(shape)
                && KeyVocabulary.lastWords.names(.member).contains(NameWords.split(name).last?.lowercased() ?? "")
                && NameWords.split(name).count > 1
        }
        if let only = endings.first(where: { item.required.contains($0.name) })
            ?? (endings.count == 1 ? endings.first : nil)
        {
            return one(only.name, .low("named like a key\(proof)"))
        }
        for name in KeyVocabulary.fallback.names(.member) {
            if let found = member(name) { return one(found, .low("no better member than \(found)\(proof)")) }
        }
        let names = item.properties.filter { name, shape in
            usable(shape) && NameWords.split(name).last?.lowercased() == "name" && item.required.isEmpty
        }
        if names.count == 1, let only = names.first { return one(only.name, .low("it ends like a name\(proof)")) }
        return sampled(item)
    }

    private static func usable(_ shape: ValueShape) -> Bool {
        guard shape.isScalar || shape.kinds.isEmpty && shape.properties.isEmpty && shape.element == nil else {
            return false
        }
        if shape.solid == [.boolean] || shape.solid == [.number] { return false }
        return shape.seen.map { $0.isUnique && $0.isComplete } ?? true
    }

    /// Returns a member whose values are unique in the sample.
    private static func sampled(_ item: ValueShape) -> KeyGuess? {
        let complete = item.properties.filter {
            $0.shape.seen?.isComplete == true && $0.shape.isScalar && $0.shape.solid != [.boolean]
        }
        if let only = complete.first(where: { $0.shape.seen?.isUnique == true && !$0.shape.solid.contains(.number) }) {
            return KeyGuess(paths: [[only.name]], confidence: .low("unique in the sample"))
        }
        return nil
    }

    private static let maxCandidates = 8

    /// Returns the smallest set of members whose combined values are unique in the sample.
    ///
    /// Members of objects in the records count too. Members such as `name` come first.
    static func several(_ records: [JSONTree], _ item: ValueShape) -> KeyGuess? {
        guard records.count > 1 else { return nil }
        let paths = candidates(item)
        for count in 1...3 {
            for paths in choices(of: count, from: paths) {
                let values = records.map { record in paths.map { record[$0]?.json ?? "" }.joined(separator: "\u{0}") }
                guard Set(values).count == records.count else { continue }
                let words =
                    count == 1 ? "unique in the sample" : "unique in the sample only in combination"
                return KeyGuess(paths: paths, confidence: .low(words))
            }
        }
        return nil
    }

    private static func candidates(_ item: ValueShape) -> [[String]] {
        func fits(_ shape: ValueShape) -> Bool {
            shape.seen?.isComplete == true && !shape.solid.isEmpty && shape.solid.isSubset(of: [.string, .integer])
                && !["date-time", "date", "unix-time", "unix-milliseconds"].contains(shape.format ?? "")
        }
        var paths: [[String]] = []
        for (name, shape) in item.properties {
            if fits(shape) { paths.append([name]) }
            guard shape.isObject, shape.seen?.isComplete == true else { continue }
            paths += shape.properties.filter { fits($0.shape) }.map { [name, $0.name] }
        }
        let telling = ["name", "id", "key", "code", "slug", "title", "path"]
        func rank(_ path: [String]) -> Int {
            telling.contains { NameWords.plain(path.last ?? "").hasSuffix($0) } ? path.count : path.count + 2
        }
        return Array(
            paths.enumerated().sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }
                .map(\.element).prefix(maxCandidates))
    }

    private static func choices(of count: Int, from paths: [[String]]) -> [[[String]]] {
        guard count > 0 else { return [[]] }
        return paths.indices.flatMap { first in
            choices(of: count - 1, from: Array(paths[(first + 1)...])).map { [paths[first]] + $0 }
        }
    }
}
