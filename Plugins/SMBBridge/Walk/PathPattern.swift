import BridgeKit

/// A pattern for paths below a folder: `countries/{country}/*.txt`.
///
/// Between slashes, `*` matches any characters, `?` matches one, and `{name}` matches one or more that become a field
/// of the record; `{{` and `}}` are literal braces. A component `**` matches any number of folders. Matching proceeds
/// by component, so that a scan can skip folders that cannot lead to a match.
struct PathPattern: Sendable {
    /// A path's position in the pattern, and the captures so far.
    struct Position: Sendable, Equatable {
        let index: Int
        let captures: [String]
    }

    let text: String
    let captureNames: [String]
    /// The literal folders at the beginning of the pattern, where a scan starts.
    let literalFolders: [String]
    /// The only path that the pattern names; nil if it may name several.
    let literalPath: [String]?
    /// Whether the pattern names exactly one path.
    var isLiteral: Bool { literalPath != nil }
    /// Whether all matches are in one folder, that of ``literalFolders``.
    var hasOneFolder: Bool { literalFolders.count == components.count - 1 }
    private let components: [Component]

    private enum Component {
        case anyDepth
        case name(ComponentPattern)
    }

    /// - Throws: ``BridgeError`` that describes the fault in the text.
    init(_ text: String, isCaseSensitive: Bool = false) throws {
        self.text = text
        var components: [Component] = []
        var names: [String] = []
        for part in text.split(separator: "/", omittingEmptySubsequences: true) {
            if part == "**" {
                if case .anyDepth? = components.last { continue }
                components.append(.anyDepth)
            } else {
                let component = try ComponentPattern(part, isCaseSensitive: isCaseSensitive) { why in
                    BridgeError(
                        .configuration, "the pattern \"\(text)\": \(why)",
                        remedy: "write it like countries/{country}/*.txt")
                }
                for name in component.captureNames where names.contains(name) {
                    throw BridgeError(.configuration, "the pattern \"\(text)\" captures {\(name)} twice")
                }
                names += component.captureNames
                components.append(.name(component))
            }
        }
        guard !components.isEmpty else {
            throw BridgeError(
                .configuration, "the pattern is empty", remedy: "write it like countries/{country}/*.txt")
        }
        if case .anyDepth? = components.last {
            components.append(
                .name(
                    try ComponentPattern("*", isCaseSensitive: isCaseSensitive) { _ in
                        BridgeError(.internal, "the pattern * is refused")
                    }))
        }
        var literals: [String] = []
        for component in components {
            guard case .name(let component) = component, let literal = component.literal else { break }
            literals.append(literal)
        }
        literalFolders = Array(literals.prefix(components.count - 1))
        literalPath = literals.count == components.count ? literals : nil
        captureNames = names
        self.components = components
    }

    /// Returns the positions of a scan after the first `folders` of ``literalFolders``.
    func start(behind folders: Int) -> [Position] { expand(Position(index: folders, captures: [])) }

    /// Whether the pattern matches this path.
    func matches(_ path: [String]) -> Bool { captures(of: path) != nil }

    /// Returns the captures of a path, in the order of ``captureNames``; nil if the pattern does not match it.
    func captures(of path: [String]) -> [String]? {
        guard let name = path.last else { return nil }
        var positions = start(behind: 0)
        for folder in path.dropLast() {
            positions = descend(from: positions, into: folder)
            if positions.isEmpty { return nil }
        }
        return match(name, at: positions)
    }

    /// Returns the positions in the folder `name` of a folder with `positions`; empty if nothing below can match.
    func descend(from positions: [Position], into name: String) -> [Position] {
        var result: [Position] = []
        for position in positions {
            var next: [Position] = []
            switch components[position.index] {
            case .anyDepth: next = expand(position)
            case .name(let component):
                guard position.index + 1 < components.count, let captures = component.match(name) else { continue }
                next = expand(Position(index: position.index + 1, captures: position.captures + captures))
            }
            // Of several ways to the same position, keep the first, whose captures take precedence.
            for position in next where !result.contains(where: { $0.index == position.index }) {
                result.append(position)
            }
        }
        return result
    }

    /// Returns the captures when `name`, in a folder with `positions`, completes the pattern; nil if it does not match.
    func match(_ name: String, at positions: [Position]) -> [String]? {
        for position in positions {
            if let captures = match(name, at: position) { return captures }
        }
        return nil
    }

    /// Returns the captures for one position.
    func match(_ name: String, at position: Position) -> [String]? {
        guard position.index == components.count - 1, case .name(let component) = components[position.index],
            let captures = component.match(name)
        else { return nil }
        return position.captures.isEmpty ? captures : position.captures + captures
    }

    private func expand(_ position: Position) -> [Position] {
        guard case .anyDepth = components[position.index] else { return [position] }
        return [position, Position(index: position.index + 1, captures: position.captures)]
    }
}
