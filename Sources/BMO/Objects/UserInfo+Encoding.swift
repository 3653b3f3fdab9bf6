extension UserInfo {
    /// Creates a user info from a value that is encoded as an object: timestamps as ISO 8601, data in base64.
    ///
    /// - Throws: ``Fault``.
    public init(_ value: some Encodable & Sendable, delivery: Delivery = .ifSupported) throws(Fault) {
        let node: ObjectNode
        do {
            node = try ObjectEncoder.encode(value)
        } catch {
            throw Fault(
                code: .notEncodable,
                message: "a \(type(of: value)) cannot be encoded as a user info: \(Self.reason(error))")
        }
        guard case .members = node else {
            throw Fault(
                code: .notAnObject,
                message:
                    "a \(type(of: value)) is not encoded as an object: put it into a struct, as a member with a name")
        }
        guard node.depth <= Self.maxDepth else {
            throw Fault(
                code: .tooDeep,
                message: "the user info has objects in objects on more than \(Self.maxDepth) levels: make it flatter")
        }
        guard node.isFinite else {
            throw Fault(code: .notEncodable, message: "the user info has a number that is infinite or not a number")
        }
        let json = node.sorted.jsonText
        guard json.utf8.count <= Self.maxSize else {
            throw Fault(
                code: .tooLarge,
                message:
                    "the user info has \(json.utf8.count) bytes as JSON, and may have \(Self.maxSize): leave out what the bridges "
                    + "do not read")
        }
        self.init(value, json: json, delivery: delivery)
    }

    private static func reason(_ error: any Error) -> String {
        if case EncodingError.invalidValue(_, let context)? = error as? EncodingError {
            return context.debugDescription
        }
        return "\(error)"
    }
}

extension ObjectNode {
    /// How many objects and lists are inside each other at most.
    fileprivate var depth: Int {
        switch self {
        case .value: 0
        case .object: 1
        case .list(let elements): 1 + (elements.map(\.depth).max() ?? 0)
        case .members(let members): 1 + (members.map(\.node.depth).max() ?? 0)
        }
    }

    /// The node with the members of its objects in the order of their names.
    fileprivate var sorted: ObjectNode {
        switch self {
        case .value, .object: self
        case .list(let elements): .list(elements.map(\.sorted))
        case .members(let members):
            .members(members.map { (name: $0.name, node: $0.node.sorted) }.sorted { $0.name < $1.name })
        }
    }
}
