/// A path into a remote representation: names joined by dots, `address.city`.
///
/// A dot in a name is written `\.`, a backslash `\\`.
public struct RemotePath: Sendable, Hashable, CustomStringConvertible {
    /// The names from the outside in, without escapes; at least one.
    public var components: [String]

    /// A path of `components`.
    public init(_ components: [String]) {
        self.components = components
    }

    /// Reads a path as a configuration writes it; nil when a name is empty or a backslash escapes nothing.
    public init?(_ text: String) {
        var components: [String] = []
        var component = ""
        var escaped = false
        for character in text.unicodeScalars {
            if escaped {
                guard character == "." || character == "\\" else { return nil }
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

    /// The place of an element that a name stands for where it leads into an array: `1` of `position.1`.
    public static func elementIndex(_ name: String) -> Int? {
        guard !name.isEmpty, name.utf8.count < 10, name.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            name.utf8.count == 1 || name.utf8.first != 0x30
        else { return nil }
        return Int(name)
    }

    /// Whether a name of the path may stand for one element of an array.
    public var mayLeadToElement: Bool { components.dropFirst().contains { Self.elementIndex($0) != nil } }

    /// The path as a configuration writes it.
    public var description: String {
        components.map { component in
            component.unicodeScalars.reduce(into: "") { text, character in
                if character == "." || character == "\\" { text += "\\" }
                text.unicodeScalars.append(character)
            }
        }.joined(separator: ".")
    }
}
