internal import BridgeJSON
internal import Inference

/// The requests of a document that become no part of an entity.
extension OpenAPIReader {
    /// The kinds of requests that are left out, with the words for them in a note.
    private enum LeftOut: String, CaseIterable {
        case values = "left out, as their replies are lists of plain values"
        case free = "left out, as the document names no members of their objects"
        case object = "left out, as their replies are one object"
        case lines = "left out, as their replies are lines of JSON"
        case ofVariable = "left out, as the path of their list ends in a variable"
        case accepted = "left out, as they only accept a request (202)"
        case search = "left out, as their body has no page"
        case write = "not proposed under write, by their method or path"
    }

    /// Returns a note on each kind of request that is in no listing, and writes no object of one.
    func leftOut(besides listings: [Listing]) -> [String] {
        var used = Set(listings.map(\.words))
        var homes: Set<String> = []
        var objects: Set<String> = []
        for listing in listings {
            for write in writes(of: listing) { used.insert("\(write.method.uppercased()) \(write.path)") }
            homes.insert(Self.home(listing.path))
            if let path = listing.itemPath?.path { objects.insert(path) }
        }
        var found: [LeftOut: [String]] = [:]
        for (path, item) in paths {
            for method in ["get", "post", "put", "patch", "delete"] {
                let words = "\(method.uppercased()) \(path)"
                guard !used.contains(words), method != "get" || !objects.contains(path),
                    let operation = item[method].map({ document.resolve($0).value })
                else { continue }
                var reason: LeftOut?
                if method == "get" {
                    reason = kind(path, operation)
                } else if let home = Self.homeOfObject(path), homes.contains(home) {
                    reason = .write
                } else if method == "post" {
                    reason = search(path, operation)
                }
                if let reason { found[reason, default: []].append(words) }
            }
        }
        return LeftOut.allCases.compactMap { kind in
            found[kind].map { names in
                let more = names.count > 4 ? " and \(names.count - 4) more" : ""
                return "\(kind.rawValue): \(names.prefix(4).joined(separator: ", "))\(more)"
            }
        }
    }

    /// Returns why a GET does not become a listing; nil if it has no records, or other notes name it.
    private func kind(_ path: String, _ operation: JSONTree) -> LeftOut? {
        let responses = operation["responses"]
        let codes = (responses?.members ?? []).map(\.name)
        let good: Set = ["200", "2XX", "2xx", "201", "206"]
        if good.isDisjoint(with: codes), let response = responses?["202"].map({ document.resolve($0).value }) {
            return response["content"]?.members.isEmpty == false || response["schema"] != nil ? .accepted : nil
        }
        // Beside other codes, the default is a failure.
        guard !good.isDisjoint(with: codes) || codes == ["default"], let reply = reply(of: operation) else {
            return nil
        }
        let lines = ["ndjson", "jsonl", "jsonlines", "json-seq"]
        if reply.types.contains(where: { type in lines.contains { type.lowercased().contains($0) } }) { return .lines }
        guard reply.format == .json else { return nil }
        let subject = subject(of: path)
        if ListingFinder.find(reply.shape, subject: subject) != nil { return isItem(path) ? .ofVariable : nil }
        if reply.shape.isArray { return kind(ofElements: reply.shape) }
        let list = reply.shape.properties.first { name, shape in
            shape.isArray && (ListingFinder.isUsual(name) || NameWords.match(name, subject))
        }
        if let list { return kind(ofElements: list.shape) }
        guard reply.shape.isObject else { return nil }
        return reply.shape.properties.isEmpty && !reply.shape.isMap ? .free : .object
    }

    private func kind(ofElements list: ValueShape) -> LeftOut { list.element?.isScalar == true ? .values : .free }

    /// Returns the kind of a POST that is called a search, and has a list but no page.
    private func search(_ path: String, _ operation: JSONTree) -> LeftOut? {
        guard isCalledSearch(path, operation), let reply = reply(of: operation),
            ListingFinder.find(reply.shape, subject: subject(of: path)) != nil
        else { return nil }
        return .search
    }

    // MARK: Paths

    /// Returns the path of a listing without a slash or an ending such as `.json` behind it.
    private static func home(_ path: String) -> String {
        let trimmed = path.trimmingSlash
        guard let dot = trimmed.lastIndex(of: "."), !trimmed[dot...].contains(where: { "/}".contains($0) })
        else { return trimmed }
        return String(trimmed[..<dot])
    }

    /// Returns the path of the listing whose object a path may address: `/users` for `/users/{id}`, `/users/{id}.json`
    /// and `/users({id})`; nil for a path of another form.
    private static func homeOfObject(_ path: String) -> String? {
        let trimmed = path.trimmingSlash
        guard let slash = trimmed.lastIndex(of: "/") else { return nil }
        let last = trimmed[trimmed.index(after: slash)...]
        guard let open = last.firstIndex(of: "{"), let close = last.lastIndex(of: "}"),
            last.count(where: { $0 == "{" }) == 1
        else { return nil }
        let ending = last[last.index(after: close)...]
        let name = last[..<open]
        if name.isEmpty, ending.isEmpty || ending.first == "." { return String(trimmed[..<slash]) }
        guard name.last == "(", ending == ")", name.count > 1 else { return nil }
        return String(trimmed[...slash]) + String(name.dropLast())
    }
}
