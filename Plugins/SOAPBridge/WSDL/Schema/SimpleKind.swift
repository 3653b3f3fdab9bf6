extension SimpleKind {
    /// Creates the kind of a built-in type (XSD part 2, section 3); nil for anyType and unknown names.
    init?(builtIn name: String) {
        switch name {
        case "int", "long", "short", "byte", "integer", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger",
            "negativeInteger", "unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte":
            self = .integer
        case "decimal": self = .decimal
        case "double", "float": self = .double
        case "boolean": self = .boolean
        case "base64Binary", "base64": self = .base64
        case "hexBinary": self = .hex
        // These include names from the drafts of 1999 and 2000, which old services still use.
        case "string", "normalizedString", "token", "language", "Name", "NCName", "NMTOKEN", "NMTOKENS", "ID", "IDREF",
            "IDREFS", "ENTITY", "ENTITIES", "QName", "NOTATION", "anyURI", "date", "time", "dateTime", "duration",
            "gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay", "dayTimeDuration", "yearMonthDuration",
            "dateTimeStamp", "anyAtomicType",
            "timeInstant", "timeDuration", "uriReference", "uri", "CDATA", "year", "month", "century", "recurringDate",
            "recurringDay", "recurringDuration", "timePeriod":
            self = .text
        case "binary": self = .base64
        default: return nil
        }
    }

    /// The built-in type for values of this kind.
    var builtInName: String {
        switch self {
        case .text: "string"
        case .integer: "integer"
        case .decimal: "decimal"
        case .double: "double"
        case .boolean: "boolean"
        case .base64: "base64Binary"
        case .hex: "hexBinary"
        }
    }
}
