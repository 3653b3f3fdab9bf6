internal import BridgeKit

/// The operation that creates, updates or deletes an entity's objects, and the places of the values in its request.
struct SOAPWriteRule: Sendable {
    /// The operation's name in the WSDL.
    let service: String
    /// The constant part of the request.
    let input: InputValue
    /// The path of the request's element for the object's values; empty for the request itself.
    let values: [String]
    /// The elements for the key, by the attribute's local name; an empty name stands for a key's only attribute.
    let keys: [(attribute: String, path: [String])]
    /// Further elements below `values`, and the attributes whose local values they take.
    let attributes: [(path: [String], attribute: String)]
    /// Whether an update reads the whole object, changes it and sends it back, because the service replaces the object.
    let sendsAll: Bool
    /// Elements below `values` that the object as read lacks and that an update may omit.
    let leftOut: [String]
    /// The path to the object in the reply; nil for the element of the listing's type.
    let record: [String]?
    /// The path to the new key in the reply, and the record's member for it.
    let replyKey: (path: [String], field: String)?

    static let schema = #"""
        {
          "type": "object",
          "description": "How objects are created, updated and deleted; operations that are not named here are not supported.",
          "additionalProperties": false,
          "properties": {
            "create": \#(operation("Creates an object.")),
            "update": \#(operation("Changes an object.")),
            "delete": \#(operation("Deletes an object."))
          }
        }
        """#

    private static func operation(_ description: String) -> String {
        operationSchema.replacing("@DESCRIPTION@", with: description)
    }

    private static let operationSchema = #"""
        {
          "type": "object",
          "description": "@DESCRIPTION@",
          "additionalProperties": false,
          "required": ["operation"],
          "properties": {
            "operation": {"type": "string", "description": "The WSDL's operation."},
            "input": {"type": "object", "additionalProperties": {"$ref": "#/$defs/content"}, "description": "The constant part of the request; {key.NAME}, {object.NAME} and {parent.NAME} stand for values."},
            "values": {"type": "string", "description": "The request's element that takes the object's values, a path a/b for a nested one; default: the request itself."},
            "key": {"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "string"}}], "description": "The request's element that takes the key, a path for a nested one; of a key with several attributes one each: {ATTRIBUTE: ELEMENT}."},
            "attributes": {"type": "object", "additionalProperties": {"type": "string"}, "description": "Further elements below values, and the attributes whose values they take: {ELEMENT: ATTRIBUTE}."},
            "send": {"type": "string", "enum": ["all", "changes"], "description": "update: all: the whole object, as the service has it, with the changes in it; changes: only these. Default: all."},
            "leave_out": {"type": "array", "items": {"type": "string"}, "description": "update, with send all: elements below values that the object as it is read does not have, and that are left out."},
            "record": {"type": "string", "description": "Element names from the reply's body element down to the object; default: the element of the same type as the listing's records."},
            "reply_key": {"type": "string", "description": "create: element names from the reply's body element down to the new key, where the reply has no object."},
            "key_field": {"type": "string", "description": "create: the record's member that takes reply_key; default: its last name."}
          }
        }
        """#

    /// - Throws: ``BridgeError`` unsupported if the config has no operation for the change.
    init(_ request: WriteRequest) throws(BridgeError) {
        let what = request.operation.rawValue
        guard let options = request.section.object("write")?.object(what), let name = options.string("operation") else {
            throw BridgeError(
                .unsupported, "\(request.entity): the config does not say how to \(what) its objects",
                remedy: "add write: {\(what): {operation: NAME}} to its section soap")
        }
        func path(_ name: String) throws(BridgeError) -> [String]? {
            guard let text = options.string(name), !text.isEmpty else { return nil }
            guard let path = SOAPSection.path(text) else {
                throw BridgeError(
                    .configuration, "write.\(what).\(name) is \"\(text)\"",
                    remedy: "write element names with a slash between them")
            }
            return path
        }
        func elements(_ text: String) -> [String] { text.split(separator: "/").map(String.init) }
        service = name
        input = options.withValue("input") { value in value.map(InputValue.init) ?? .object([]) }
        values = try path("values") ?? []
        if let map = options.object("key") {
            keys = map.names.map { ($0, elements(map.string($0) ?? "")) }
        } else {
            keys = try path("key").map { [("", $0)] } ?? []
        }
        let map = options.object("attributes")
        attributes = (map?.names ?? []).map { (elements($0), map?.string($0) ?? "") }
        sendsAll = options.string("send") != "changes"
        leftOut = options.strings("leave_out")
        record = try path("record")
        replyKey = try path("reply_key").map { ($0, options.string("key_field") ?? $0.last ?? "") }
    }
}
