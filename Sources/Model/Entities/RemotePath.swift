/// A path into a remote representation: names joined by dots, such as `address.city`.
///
/// In a name, write a dot as `\.` and a backslash as `\\`. A `$`, which begins other kinds of paths, may be escaped, and
/// so may a `[`, which selects elements in them.
public struct RemotePath: Sendable, Hashable, CustomStringConvertible {
    /// The unescaped names from the outside in; at least one.
    public var components: [String]

    /// Creates a path from names.
    public init(_ components: [String]) {
        self.components = components
    }

    /// Parses a path as a configuration writes it; nil if a name is empty or a backslash escapes nothing.
    public init?(_ text: String) {
        var components: [String] = []
        var component = ""
        var escaped = false
        for character in text.unicodeScalars {
            if escaped {
                guard [".", "\\", "$", "["].contains(character) else { return nil }
                component.unicodeScalars.append(character)
                escaped = false
            } else if character == "\\" {
                escaped = true
            } else if character == "." {
                guard !component.isEmpty else { return nil }
                components.append(component)
                component = ""
            } else {
                component.unicodeScalars.append(character)
            }
        }
        guard !escaped, !component.isEmpty else { return nil }
        self.components = components + [component]
    }

    /// Returns the index of the array element that a name represents, such as `1` in `position.1`; nil for other names.
    public static func elementIndex(_ name: String) -> Int? {
        guard !name.isEmpty, name.utf8.count < 10, name.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            name.utf8.count == 1 || name.utf8.first != 0x30
        else { return nil }
        return Int(name)
    }

    /// Returns whether a path has `[0]` or `[*]`, as paths of other kinds select elements, and not as a part of a name.
    static func hasBrackets(_ text: String) -> Bool {
        guard text.utf8.contains(UInt8(ascii: "[")) else { return false }
        return text.replacing("\\\\", with: "").replacing("\\[", with: "").contains(/\[([0-9]+|\*)\]/)
    }

    /// Whether the path leads to an object's surroundings: the object that contains it (`@parent.id`), or its position
    /// in its list (`@index`).
    public var isOfSurroundings: Bool { Self.surroundings.contains(components[0]) }

    /// The first names of paths to an object's surroundings.
    public static let surroundings = ["@parent", "@index"]

    /// Whether a name of the path may represent an element of an array.
    public var mayLeadToElement: Bool { components.dropFirst().contains { Self.elementIndex($0) != nil } }

    /// The path as a configuration writes it.
    public var description: String {
        components.map { component in
            let hasBrackets = Self.hasBrackets(component)
            return component.unicodeScalars.reduce(into: "") { text, character in
                let isBracket = character == "[" && hasBrackets
                if character == "." || character == "\\" || component == "$" || isBracket { text += "\\" }
                text.unicodeScalars.append(character)
            }
        }.joined(separator: ".")
    }
}
