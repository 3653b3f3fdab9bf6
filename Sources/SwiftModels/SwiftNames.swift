internal import Model

/// Names that Swift accepts, and that differ within one struct.
struct SwiftNames {
    /// The names of the generated types, which may hide those of the standard library.
    private let types: Set<String>
    private var taken: Set<String> = []

    init(types: Set<String>) { self.types = types }

    private static let keywords: Set<String> = [
        "actor", "as", "associatedtype", "await", "borrowing", "break", "case", "catch", "class", "consuming",
        "continue", "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false",
        "fileprivate", "for", "func", "guard", "if", "import", "in", "inout", "internal", "is", "let", "nil", "open",
        "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "static",
        "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where",
        "while",
    ]
    /// Names that the generated structs use themselves, or that Swift gives a meaning.
    private static let reserved: Set<String> = [
        "init", "self", "Self", "Type", "Protocol", "entityName", "objectKey", "objectID", "hashValue", "write",
        "Key", "localValues", "attributeNames", "_",
    ]
    /// Types that the generated code names, and names that Swift gives a meaning.
    private static let reservedTypes: Set<String> = [
        "Self", "Type", "Protocol", "Any", "BMO", "Foundation", "Swift", "BackedObject", "WritableObject",
        "Identifiable", "BackedKey", "Key", "LocalObject", "LocalValue", "ObjectAttribute", "ObjectReference",
        "ObjectValues", "RequestError", "ToManyRelationship", "ToOneRelationship",
    ]

    /// Returns the name of an entity's struct: `order_line` becomes `OrderLine`, and `Key` becomes `KeyObject`.
    static func type(_ name: String) -> String {
        let words = words(of: name).map { $0.prefix(1).uppercased() + $0.dropFirst() }
        let type = legal(words.joined())
        return reservedTypes.contains(type) ? "\(type)Object" : type
    }

    /// Returns the name of a member: `created_at` becomes `createdAt`, a keyword is quoted, a taken name gets a number.
    mutating func member(_ name: String) -> String {
        let words = Self.words(of: name)
        let first = words.first.map { $0.allSatisfy(\.isUppercase) ? $0.lowercased() : Self.uncapitalized($0) } ?? ""
        let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
        var member = Self.legal(([first] + rest).joined())
        if Self.reserved.contains(member) { member += "Value" }
        var free = member
        var number = 2
        while !taken.insert(free).inserted {
            free = "\(member)\(number)"
            number += 1
        }
        return Self.keywords.contains(free) ? "`\(free)`" : free
    }

    /// Returns the Swift type of an attribute type.
    func type(of type: AttributeType) -> String {
        switch type {
        case .text: standard("String")
        case .integer: standard("Int")
        case .real: standard("Double")
        case .boolean: standard("Bool")
        case .decimal: standard("Decimal", of: "Foundation")
        case .timestamp: standard("Date", of: "Foundation")
        case .date: standard("CalendarDate", of: "BMO")
        case .data: standard("Data", of: "Foundation")
        case .json: standard("StoredJSON", of: "BMO")
        case .url: standard("URL", of: "Foundation")
        case .uuid: standard("UUID", of: "Foundation")
        }
    }

    /// Returns a type of a module, with the module's name where an entity has the type's.
    func standard(_ name: String, of module: String = "Swift") -> String {
        types.contains(name) ? "\(module).\(name)" : name
    }

    /// Returns a text as a literal.
    static func literal(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\\", "\"": "\\\(scalar)"
            default: scalar.value < 0x20 ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
            }
        }
        return "\"\(escaped.joined())\""
    }

    private static func words(of name: String) -> [String] {
        name.split { !($0.isLetter || $0.isNumber) }.map(String.init)
    }

    private static func uncapitalized(_ word: String) -> String { word.prefix(1).lowercased() + word.dropFirst() }

    private static func legal(_ name: String) -> String {
        guard let first = name.first else { return "_" }
        return first.isNumber ? "_\(name)" : name
    }
}
