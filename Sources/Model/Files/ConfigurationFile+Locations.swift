extension ConfigurationFile {
    /// Returns the location of the longest prefix of a path of names that exists; nil if not even its first name does.
    package func location(of path: [String]) -> SourceLocation? {
        guard let found = find(path), found.depth > 1 else { return nil }
        return SourceLocation(file: self.path, line: found.mark.line, column: found.mark.column)
    }

    /// Returns the location of the value at a path of names, or of its last name; nil if the path does not exist.
    package func exactLocation(of path: [String], isName: Bool) -> SourceLocation? {
        guard let found = find(path), found.depth == path.count else { return nil }
        let mark = isName ? found.nameMark : found.mark
        return SourceLocation(file: self.path, line: mark.line, column: mark.column)
    }

    /// Returns the path of names at a location, and whether the location is that of the last name; nil if nothing
    /// begins there.
    package func path(at location: SourceLocation) -> (path: [String], isName: Bool)? {
        root.flatMap { Self.path(at: YAMLMark(line: location.line, column: location.column), in: $0) }
    }

    private static func path(at mark: YAMLMark, in node: YAMLNode) -> (path: [String], isName: Bool)? {
        switch node.content {
        case .scalar: break
        case .sequence(let elements):
            for (index, element) in elements.enumerated() {
                if element.mark == mark { return (["\(index)"], false) }
                if let rest = path(at: mark, in: element) { return (["\(index)"] + rest.path, rest.isName) }
            }
        case .mapping(let pairs):
            for pair in pairs {
                guard let name = pair.key.scalarText else { continue }
                if pair.key.mark == mark || pair.value.mark == mark { return ([name], pair.key.mark == mark) }
                if let rest = path(at: mark, in: pair.value) { return ([name] + rest.path, rest.isName) }
            }
        }
        return nil
    }

    private func find(_ path: [String]) -> (mark: YAMLMark, nameMark: YAMLMark, depth: Int)? {
        guard var node = root else { return nil }
        var depth = 0
        var mark = node.mark
        var nameMark = mark
        for name in path {
            if case .sequence(let elements) = node.content, let index = Int(name), elements.indices.contains(index) {
                node = elements[index]
                mark = node.mark
                nameMark = mark
            } else if case .mapping(let pairs) = node.content,
                let pair = pairs.first(where: { $0.key.scalarText == name })
            {
                node = pair.value
                nameMark = pair.key.mark
                if case .scalar = node.content { mark = node.mark } else { mark = pair.key.mark }
            } else {
                break
            }
            depth += 1
        }
        return (mark, nameMark, depth)
    }
}
