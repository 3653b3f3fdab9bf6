internal import BridgeKit

/// Gathers a WSDL and what it imports and includes, through a `read` function of the caller.
///
/// Each document is read once, so cycles end; only the host (or disk) of the first document is asked.
struct DocumentCollector {
    enum Limits {
        static let documents = 200
        static let depth = 20
        static let documentBytes = 16 << 20
        static let totalBytes = 64 << 20
    }

    /// A schema document with the namespace it declares, or that of the schema that includes it.
    struct SchemaDocument {
        var root: XMLElement
        var targetNamespace: String
    }

    private(set) var definitions: [XMLElement] = []
    private(set) var schemas: [SchemaDocument] = []
    private(set) var notes: [String] = []

    private let read: (DocumentLocation) throws -> [UInt8]
    private var seen: Set<Key> = []
    private var parsed: [DocumentLocation: XMLElement] = [:]
    private var totalBytes = 0

    private struct Key: Hashable {
        let location: DocumentLocation
        let namespace: String?
    }

    init(read: @escaping (DocumentLocation) throws -> [UInt8]) {
        self.read = read
    }

    /// Reads the first document and all that it leads to.
    mutating func collect(_ location: DocumentLocation) throws {
        seen.insert(Key(location: location, namespace: nil))
        try addDefinitions(document(location), at: location, depth: 0)
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

    private mutating func addDefinitions(_ root: XMLElement, at location: DocumentLocation, depth: Int) throws {
        guard root.name == QName(Namespace.wsdl, "definitions") else {
            if root.name.namespace == Namespace.schema {
                return try addSchema(root, namespace: nil, at: location, depth: depth)
            }
            let isVersion2 = root.name.namespace == Namespace.wsdl2
            throw BridgeError(
                isVersion2 ? .unsupported : .malformed,
                isVersion2
                    ? "the document is WSDL 2.0; the bridge reads WSDL 1.1"
                    : "the document is not a WSDL: its root element is <\(root.name.local)>",
                remedy: isVersion2 ? nil : "many services give it at their URL with ?wsdl", location: "\(location)")
        }
        definitions.append(root)
        for part in root.children(Namespace.wsdl, "import") {
            guard let target = part["location"] else { continue }
            guard let next = try resolve(target, from: location) else {
                throw BridgeError(
                    .unsupported, "the WSDL imports \(target), which is on another host",
                    remedy: "import it from a local copy",
                    location: "\(location)")
            }
            guard seen.insert(Key(location: next, namespace: nil)).inserted else { continue }
            try addDefinitions(document(next), at: next, depth: deeper(depth, location))
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
        guard root.name == QName(Namespace.schema, "schema") else {
            notes.append("\(location) is not a schema but <\(root.name.local)>: left out")
            return
        }
        let target = root["targetNamespace"] ?? namespace ?? ""
        schemas.append(SchemaDocument(root: root, targetNamespace: target))
        for part in root.children where part.name.namespace == Namespace.schema {
            let isImport = part.name.local == "import"
            guard isImport || part.name.local == "include" || part.name.local == "redefine",
                let reference = part["schemaLocation"]
            else { continue }
            if isImport, Namespace.wellKnown.contains(part["namespace"] ?? "") { continue }
            guard let next = try resolve(reference, from: location) else {
                notes.append("\(location) imports \(reference), which is on another host: its types are read as text")
                continue
            }
            guard seen.insert(Key(location: next, namespace: isImport ? nil : target)).inserted else { continue }
            let document: XMLElement
            do {
                document = try self.document(next)
            } catch let error as BridgeError where error.code == .notFound || error.code == .permission {
                notes.append(
                    "\(next), imported by \(location), can't be had (\(error.message)): its types are read as text")
                continue
            }
            try addSchema(document, namespace: isImport ? nil : target, at: next, depth: deeper(depth, location))
        }
    }

    /// Where a reference leads; nil for another host.
    private func resolve(_ reference: String, from location: DocumentLocation) throws -> DocumentLocation? {
        let lowered = reference.lowercased()
        guard !lowered.hasPrefix("file:"), location.isFile || !reference.contains("\\") else {
            throw BridgeError(
                .permission, "the WSDL refers to the file \(reference); files are read only from a path in the config",
                location: "\(location)")
        }
        return location.resolving(reference)
    }

    private func deeper(_ depth: Int, _ location: DocumentLocation) throws -> Int {
        guard depth < Limits.depth else {
            throw BridgeError(
                .limit, "the WSDL's imports nest deeper than \(Limits.depth) levels", location: "\(location)")
        }
        return depth + 1
    }
}
