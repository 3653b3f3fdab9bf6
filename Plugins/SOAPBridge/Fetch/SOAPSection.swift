internal import BridgeHTTP
internal import BridgeKit

/// An entity's validated section of the config.
struct SOAPSection: Sendable {
    let operation: String
    let input: InputValue
    let records: [String]
    var paging: SOAPPaging
    let maxPages: Int
    /// Whether the content of a wrapper (`ArrayOfString`) is read as a plain list.
    let unwraps: Bool
    let headers: InputValue
    let faultRules: [SOAPFaultRule]
    /// The entity's time limits of the service; nil for none.
    let timing: BridgeOptions?

    static let defaultMaxPages = 100_000

    static let schema = #"""
        {
          "type": "object",
          "additionalProperties": false,
          "$defs": {"content": \#(InputValue.schema)},
          "required": ["operation", "records"],
          "properties": {
            "operation": {"type": "string", "description": "The WSDL's operation that lists the records."},
            "input": {"type": "object", "additionalProperties": {"$ref": "#/$defs/content"}, "description": "The constant part of the request: element names and their values, nested; @name is an attribute, @xsi:type a type, a list repeats an element, null is xsi:nil. {parent.NAME} and {since} stand for values of the sync."},
            "records": {"type": "string", "description": "Element names from the reply's body element down to a record, such as ListUsersResponse/users/user."},
            "wrapped_lists": {"type": "string", "enum": ["member", "plain"], "default": "member", "description": "How an element is read that holds nothing but one other, repeated, as ArrayOfString does: as an object with that member, or plain, as the list itself."},
            "paging": \#(SOAPPaging.schema),
            "soap_headers": {"type": "object", "x-secrets": true, "additionalProperties": {"$ref": "#/$defs/content"}, "description": "Further blocks for the header of each request, or others of the same names."},
            "write": \#(SOAPWriteRule.schema),
            "faults": \#(SOAPFaultRule.schema),
            \#(HTTPTiming.schemaProperties),
            "max_pages": {"type": "integer", "minimum": 1, "default": 100000, "description": "Stop after this many pages, with a warning."}
          }
        }
        """#

    /// Reads and validates a section.
    ///
    /// - Throws: ``BridgeError`` configuration with the member's name.
    init(_ section: BridgeOptions) throws(BridgeError) {
        guard let operation = section.string("operation"), !operation.isEmpty else {
            throw BridgeError(.configuration, "\"operation\" is missing", remedy: "set it to an operation of the WSDL")
        }
        self.operation = operation
        input = section.withValue("input") { value in value.map(InputValue.init) ?? .object([]) }
        guard let records = section.string("records"), let path = Self.path(records) else {
            throw BridgeError(
                .configuration, "\"records\" is missing or not a path",
                remedy:
                    "write the element names from the reply's body element to a record: \(operation)Response/items/item"
            )
        }
        self.records = path
        switch section.string("wrapped_lists") {
        case nil, "member": unwraps = false
        case "plain": unwraps = true
        case let word?:
            throw BridgeError(
                .configuration, "\"wrapped_lists\" is \"\(word)\"", remedy: "use member or plain")
        }
        paging = try SOAPPaging(section.object("paging") ?? .empty)
        headers = section.withValue("soap_headers") { value in value.map(InputValue.init) ?? .object([]) }
        faultRules = try SOAPFaultRule.rules(section)
        let timed = ["timeout", "first_byte_timeout", "minimum_speed", "minimum_speed_time"]
        timing = timed.contains(where: section.has) ? section : nil
        do {
            if let timing { _ = try HTTPTiming().replaced(by: timing) }
        } catch {
            throw error as? BridgeError ?? BridgeError(.configuration, "a time in the section is not valid")
        }
        maxPages = section.integer("max_pages") ?? Self.defaultMaxPages
        guard maxPages > 0 else {
            throw BridgeError(.configuration, "\"max_pages\" is \(maxPages)", remedy: "write at least 1")
        }
    }

    /// Splits `a/b/c` into names; returns nil if one is empty.
    static func path(_ text: String) -> [String]? {
        let names = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        return names.contains("") ? nil : names
    }
}
