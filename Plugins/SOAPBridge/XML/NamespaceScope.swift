/// The namespaces that an element may use by prefix: its own declarations, then those of what holds it.
///
/// An element shares those around it with its siblings: a copy for each would take memory by the square of a document.
final class NamespaceScope: Sendable {
    /// What holds without any declaration (Namespaces in XML 1.0, section 3).
    static let outermost = NamespaceScope(["xml": Namespace.xml], inside: nil)

    private let declared: [String: String]
    private let outer: NamespaceScope?
    /// How many declarations there are, hidden ones too.
    let count: Int

    init(_ declared: [String: String], inside outer: NamespaceScope?) {
        self.declared = declared
        self.outer = outer
        count = declared.count + (outer?.count ?? 0)
    }

    /// The namespace of a prefix, of which the empty one is the default; nil for one that nobody declared.
    func namespace(of prefix: String) -> String? {
        var scope: NamespaceScope? = self
        while let current = scope {
            if let found = current.declared[prefix] { return found }
            scope = current.outer
        }
        return nil
    }

    /// All namespaces that some prefix stands for here or further out.
    var all: Set<String> {
        var found: Set<String> = []
        var scope: NamespaceScope? = self
        while let current = scope {
            found.formUnion(current.declared.values)
            scope = current.outer
        }
        return found
    }
}
