/// Where the members of a configuration file stand, for faults that are found after it was read.
package struct ConfigurationPlaces: Sendable {
    private let file: String
    private let root: YAMLNode?

    /// Reads the file anew; without it no place is known.
    package init(file: String) {
        self.file = file
        let bytes = try? FilePath.read(file, limit: ConfigurationFile.largest)
        root = bytes.flatMap { String(validating: $0, as: UTF8.self) }.flatMap { YAMLParser.parse($0).root }
    }

    /// The place of what a path of names leads to, as far as it leads; nil where not even its beginning is there.
    package func location(of path: [String]) -> SourceLocation? {
        guard var node = root else { return nil }
        var depth = 0
        var mark = node.mark
        for name in path {
            if case .sequence(let elements) = node.content, let index = Int(name), elements.indices.contains(index) {
                node = elements[index]
                mark = node.mark
            } else if case .mapping(let pairs) = node.content,
                let pair = pairs.first(where: { $0.key.scalarText == name })
            {
                node = pair.value
                if case .scalar = node.content { mark = node.mark } else { mark = pair.key.mark }
            } else {
                break
            }
            depth += 1
        }
        return depth > 1 ? SourceLocation(file: file, line: mark.line, column: mark.column) : nil
    }
}
