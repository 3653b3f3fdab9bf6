internal import BridgeHTTP
internal import BridgeKit

/// Collects a WSDL and the documents it imports and includes, through the caller's `read` function.
///
/// Each document is read once, so cycles end. Documents come only from the host (or the disk) of the first document and
/// from the hosts that the config allows.
struct DocumentCollector {
    enum Limits {
        static let documents = 500
        static let depth = 20
        static let documentBytes = 16 << 20
        static let totalBytes = 64 << 20
    }

    /// A schema document with the namespace it declares, or that of the including schema.
    struct SchemaDocument {
        var root: XMLElement
        var targetNamespace: String
        /// Whether the document declares no namespace and takes that of the including schema, for its unprefixed
        /// references too.
        var isChameleon = false
    }

    private(set) var definitions: [XMLElement] = []
    private(set) var schemas: [SchemaDocument] = []
    private(set) var notes: [String] = []

    private let read: (DocumentLocation) throws -> [UInt8]
    private let allowedHosts: Set<String>
    private var origin: DocumentLocation?
    private var seen: Set<Key> = []
    private var parsed: [DocumentLocation: XMLElement] = [:]
    private var totalBytes = 0

    private struct Key: Hashable {
        let location: DocumentLocation
        let namespace: String?
    }

    /// - Parameter allowedHosts: The names of further allowed hosts, in lower case.
    init(allowedHosts: Set<String> = [], read: @escaping (DocumentLocation) throws -> [UInt8]) {
        self.allowedHosts = allowedHosts
        self.read = read
    }

    /// Reads the first document and all documents reachable from it.
    mutating func collect(_ location: DocumentLocation) throws {
        origin = location
        seen.insert(Key(location: location, namespace: nil))
        let root = try document(location)
        if root.name.namespace != Namespace.wsdl, root.name.namespace != Namespace.schema {
            throw Self.noWSDL(root, location)
        }
        try add(root, namespace: nil, at: location, depth: 0)
        try addBundled()
    }

    private mutating func document(_ location: DocumentLocation) throws -> XMLElement {
        if let root = parsed[location] { return root }
        guard parsed.count < Limits.documents else {
            throw BridgeError(
                .limit, "the WSDL leads to more than \(Limits.documents) documents", location: "\(location)")
        }
        let bytes = try read(location)
        totalBytes += bytes.count
        guard bytes.count <= Limits.documentBytes, totalBytes <= Limits.totalBytes else {
            throw BridgeError(
                .limit,
                "the WSDL is too large: a document may have \(Limits.documentBytes >> 20) MiB, all together "
                    + "\(Limits.totalBytes >> 20) MiB", location: "\(location)")
        }
        guard !RemoteMessage.isPage(bytes, mediaType: nil) else {
            throw BridgeError(
                .malformed,
                "this is a web page, not a WSDL: its root element is <html>",
                remedy: "check the option wsdl; many services have it at their URL with ?wsdl",
                location: "\(location)",
                remote: RemoteMessage.make(bytes, mediaType: nil, redactor: HTTPRedactor(secrets: [])))
        }
        do throws(BridgeError) {
            let root = try XMLElement.parse(bytes, subject: "the document")
            parsed[location] = root
            return root
        } catch {
            var error = error
            error.location = "\(location)"
            throw error
        }
    }

    private static func noWSDL(_ root: XMLElement, _ location: DocumentLocation) -> BridgeError {
        let isVersion2 = root.name.namespace == Namespace.wsdl2
        return BridgeError(
            isVersion2 ? .unsupported : .malformed,
            isVersion2
                ? "the document is WSDL 2.0; the bridge reads WSDL 1.1"
                : "the document is not a WSDL: its root element is <\(root.name.local)>",
            remedy: isVersion2 ? nil : "many services have it at their URL with ?wsdl", location: "\(location)")
    }

    // MARK: Documents

    /// Adds a WSDL or a schema; either may appear in place of the other.
    private mutating func add(
        _ root: XMLElement, namespace: String?, at location: DocumentLocation, depth: Int
    ) throws {
        switch root.name {
        case QName(Namespace.wsdl, "definitions"): try addDefinitions(root, at: location, depth: depth)
        case QName(Namespace.schema, "schema"):
            try addSchema(root, namespace: namespace, at: location, depth: depth)
        default: notes.append("\(location) is neither a WSDL nor a schema but <\(root.name.local)>: left out")
        }
    }

    private mutating func addDefinitions(_ root: XMLElement, at location: DocumentLocation, depth: Int) throws {
        definitions.append(root)
        for part in root.children(Namespace.wsdl, "import") {
            guard let target = part["location"], !target.isEmpty else { continue }
            try follow(target, namespace: nil, from: location, depth: depth, loss: "what it describes is missing")
        }
        for types in root.children(Namespace.wsdl, "types") {
            for schema in types.children(Namespace.schema, "schema") {
                try addSchema(schema, namespace: nil, at: location, depth: depth)
            }
        }
    }

    private mutating func addSchema(
        _ root: XMLElement, namespace: String?, at location: DocumentLocation, depth: Int
    ) throws {
        let own = root["targetNamespace"]
        schemas.append(
            SchemaDocument(
                root: root, targetNamespace: own ?? namespace ?? "", isChameleon: own == nil && namespace != nil))
        for part in root.children where part.name.namespace == Namespace.schema {
            let isImport = part.name.local == "import"
            guard isImport || part.name.local == "include" || part.name.local == "redefine",
                let reference = part["schemaLocation"], !reference.isEmpty
            else { continue }
            // A schema without a namespace takes the one under which it is imported.
            let name = isImport ? part["namespace"] : own ?? namespace ?? ""
            try follow(
                reference, namespace: name, from: location, depth: depth, loss: "its types are read as text",
                isWellKnown: isImport && Namespace.wellKnown.contains(name ?? ""))
        }
    }

    /// Adds the bridge's own schemas that are referenced but not supplied.
    private mutating func addBundled() throws {
        let given = Set(schemas.map(\.targetNamespace))
        var wanted: Set<String> = []
        for document in schemas {
            wanted.formUnion(document.root.scope.all)
            for part in document.root.children(Namespace.schema, "import") {
                if let name = part["namespace"] { wanted.insert(name) }
            }
        }
        for document in definitions { wanted.formUnion(document.scope.all) }
        for (namespace, text) in BundledSchemas.texts
        where wanted.contains(namespace) && !given.contains(namespace) {
            let root = try XMLElement.parse(Array(text.utf8), subject: "a bundled schema")
            schemas.append(SchemaDocument(root: root, targetNamespace: namespace))
        }
    }

    // MARK: References

    private mutating func follow(
        _ reference: String, namespace: String?, from location: DocumentLocation, depth: Int, loss: String,
        isWellKnown: Bool = false
    ) throws {
        let places = try candidates(reference, from: location)
        guard !places.isEmpty else {
            if !isWellKnown {
                notes.append(
                    "\(location) imports \(reference), which is on another host: \(loss); allow the host in the option "
                        + "import_hosts, or give a local copy")
            }
            return
        }
        var failure: BridgeError?
        for next in places {
            do {
                let root = try document(next)
                let key = Key(location: next, namespace: root["targetNamespace"] == nil ? namespace : nil)
                guard seen.insert(key).inserted else { return }
                guard depth < Limits.depth else {
                    throw BridgeError(
                        .limit, "the WSDL's imports nest deeper than \(Limits.depth) levels", location: "\(location)")
                }
                return try add(root, namespace: namespace, at: next, depth: depth + 1)
            } catch let error as BridgeError {
                guard [.notFound, .permission, .malformed].contains(error.code), !error.isRetryable else { throw error }
                failure = failure ?? error
            }
        }
        if let failure, !isWellKnown {
            notes.append(
                "\(failure.location ?? reference), imported by \(location), cannot be fetched (\(failure.message)): \(loss)"
            )
        }
    }

    /// Returns the possible locations of a reference, the likeliest first; empty for a host that is not allowed.
    private func candidates(_ text: String, from location: DocumentLocation) throws -> [DocumentLocation] {
        let reference = text.replacing("\\", with: "/").trimmingWhiteSpace
        let isDrive = reference.dropFirst().first == ":"
        let isFile = reference.lowercased().hasPrefix("file:") || isDrive
        if isFile, !location.isFile {
            throw BridgeError(
                .permission, "the WSDL refers to the file \(text); files are read only from a path in the config",
                location: "\(location)")
        }
        let name = reference.split(separator: "/").last.map { String($0.prefix { $0 != "?" && $0 != "#" }) } ?? ""
        /// Returns a file's path as written and percent-decoded.
        func spellings(_ next: DocumentLocation) -> [DocumentLocation] {
            let decoded = next.isFile ? next.percentDecoded : next
            return decoded == next ? [next] : [next, decoded]
        }
        if !isFile, let next = location.resolving(reference) { return spellings(next) }
        if !isFile, let next = location.resolvingAnywhere(reference), isAllowed(next) { return [next] }
        // The documents of a downloaded folder still refer to their original locations.
        if location.isFile, !name.isEmpty, let next = location.resolving(name) { return spellings(next) }
        // A service behind a proxy gives its internal address.
        if !isFile, let inner = location.resolvingAnywhere(reference), let next = inner.moved(to: location),
            next.path == location.path || next.query.lowercased().contains("xsd")
                || next.query.lowercased().contains("wsdl")
        {
            return [next]
        }
        return []
    }

    private func isAllowed(_ location: DocumentLocation) -> Bool {
        allowedHosts.contains(location.host) || !location.isFile && location.host == origin?.host
    }
}

extension StringProtocol {
    /// The text without leading and trailing white space.
    var trimmingWhiteSpace: String {
        let start = firstIndex { !$0.isWhitespace } ?? endIndex
        let end = lastIndex { !$0.isWhitespace }.map(index(after:)) ?? start
        return String(self[start..<end])
    }
}
