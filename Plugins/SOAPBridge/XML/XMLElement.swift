internal import BridgeKit
internal import BridgeXML

/// An element of a small document in memory, a WSDL or XSD.
struct XMLElement: Sendable {
    let name: QName
    /// The values by name for attributes without a namespace; by `{namespace}name` for others.
    var attributes: [String: String] = [:]
    var children: [XMLElement] = []
    let scope: NamespaceScope

    /// Returns the attribute without a namespace.
    subscript(attribute: String) -> String? { attributes[attribute] }

    /// Returns the child elements with this name.
    func children(_ namespace: String, _ local: String) -> [XMLElement] {
        children.filter { $0.name.local == local && $0.name.namespace == namespace }
    }

    /// Returns the first child element with this name.
    func child(_ namespace: String, _ local: String) -> XMLElement? {
        children.first { $0.name.local == local && $0.name.namespace == namespace }
    }

    /// Returns the qualified name that an attribute holds; nil if the attribute is missing or its prefix is undeclared.
    func qualifiedName(_ attribute: String) -> QName? {
        guard let text = attributes[attribute] else { return nil }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(Self.trimmed)
        if parts.count == 2 { return scope.namespace(of: parts[0]).map { QName($0, parts[1]) } }
        return QName(scope.namespace(of: "") ?? "", parts[0])
    }

    private static func trimmed(_ text: Substring) -> String {
        let start = text.firstIndex { !$0.isWhitespace } ?? text.endIndex
        let end = text.lastIndex { !$0.isWhitespace }.map(text.index(after:)) ?? start
        return String(text[start..<end])
    }

    /// Parses a whole document.
    ///
    /// `subject` names the document in errors.
    ///
    /// - Throws: ``BridgeError`` malformed, or limit for more than ``XMLTreeBuilder/Limits`` allows.
    static func parse(_ bytes: [UInt8], subject: String) throws(BridgeError) -> XMLElement {
        // Scripts often print a line before the XML declaration, which XML forbids.
        let text = bytes.drop(while: XMLSpace.contains)
        guard !text.isEmpty else { throw BridgeError(.malformed, "\(subject) is empty") }
        let builder = XMLTreeBuilder(subject: subject)
        let parser = try XMLPushParser(sink: builder, subject: subject)
        try parser.feed(text)
        try parser.finish()
        guard let root = builder.root else { throw BridgeError(.malformed, "\(subject) is empty") }
        return root
    }
}

/// Builds an ``XMLElement`` from events, without text, because WSDL and XSD have none that matters here.
final class XMLTreeBuilder: XMLEventSink {
    enum Limits {
        static let depth = 100
        static let elements = 1_000_000
        static let attributes = 256
        /// Declared by an element and its ancestors.
        static let namespaces = 1_000
    }

    private(set) var root: XMLElement?
    private var stack: [XMLElement] = []
    private var count = 0
    private let subject: String

    init(subject: String) { self.subject = subject }

    override func startElement(_ element: XMLStartElement) throws(BridgeError) {
        count += 1
        guard stack.count < Limits.depth else {
            throw BridgeError(.limit, "\(subject) nests elements deeper than \(Limits.depth) levels")
        }
        guard count <= Limits.elements else {
            throw BridgeError(.limit, "\(subject) has more than \(Limits.elements) elements")
        }
        guard element.attributeCount <= Limits.attributes else {
            throw BridgeError(.limit, "\(subject) has an element with more than \(Limits.attributes) attributes")
        }
        let scope = try scope(of: element)
        var name = QName(Self.current(element.namespace), element.localName)
        // Some schemas omit the prefix of XML Schema, so that their elements have no namespace or that of the WSDL.
        if name.namespace.isEmpty || name.namespace == Namespace.wsdl,
            stack.last?.name.namespace == Namespace.schema && stack.last?.name.local != "appinfo"
                && stack.last?.name.local != "documentation" || stack.isEmpty && name.local == "schema"
        {
            name.namespace = Namespace.schema
        }
        var node = XMLElement(name: name, scope: scope)
        for index in 0..<element.attributeCount {
            guard let attribute = element.attribute(index) else { continue }
            let namespace = attribute.namespacePointer.map { Self.current(String(cString: $0)) } ?? ""
            node.attributes[QName(namespace, attribute.localName).description] = attribute.value
        }
        stack.append(node)
    }

    private func scope(of element: XMLStartElement) throws(BridgeError) -> NamespaceScope {
        let outer = stack.last?.scope ?? .outermost
        guard element.namespaceCount > 0 else { return outer }
        guard outer.count + element.namespaceCount <= Limits.namespaces else {
            throw BridgeError(
                .limit, "\(subject) has an element with more than \(Limits.namespaces) namespaces declared in its scope"
            )
        }
        var declared: [String: String] = [:]
        for index in 0..<element.namespaceCount {
            let (prefix, namespace) = element.declaration(index)
            declared[prefix] = Self.current(namespace)
        }
        return NamespaceScope(declared, inside: outer)
    }

    /// Maps the namespaces of XML Schema's drafts to the final ones.
    private static func current(_ namespace: String) -> String { Namespace.drafts[namespace] ?? namespace }

    override func endElement() throws(BridgeError) {
        guard let node = stack.popLast() else { return }
        if stack.isEmpty { root = node } else { stack[stack.count - 1].children.append(node) }
    }
}
