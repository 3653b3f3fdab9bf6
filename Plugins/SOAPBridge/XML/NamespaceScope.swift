/// The namespace prefixes in scope at an element: its own declarations and those of its ancestors.
///
/// Siblings share their ancestors' scopes: a copy for each would take memory quadratic in the document's size.
final class NamespaceScope: Sendable {
    /// The scope without any declaration (Namespaces in XML 1.0, section 3).
    static let outermost = NamespaceScope(["xml": Namespace.xml], inside: nil)

    private let declared: [String: String]
    private let outer: NamespaceScope?
    /// The number of declarations, including hidden ones.
    let count: Int

    init(_ declared: [String: String], inside outer: NamespaceScope?) {
        self.declared = declared
        self.outer = outer
        count = declared.count + (outer?.count ?? 0)
    }

    /// Returns the namespace of a prefix (empty for the default namespace); nil for an undeclared prefix.
    func namespace(of prefix: String) -> String? {
        var scope: NamespaceScope? = self
        while let current = scope {
            if let found = current.declared[prefix] { return found }
            scope = current.outer
        }
        return nil
    }

    /// All namespaces that have a prefix here or further out.
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
