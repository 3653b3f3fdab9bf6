internal import Model

/// The types of columns.
enum SQLType: Equatable {
    case text, bigint, boolean, double, numeric, timestamptz, date, uuid, bytea

    init(_ type: AttributeType) {
        self =
            switch type {
            case .text, .json, .url: .text
            case .integer: .bigint
            case .boolean: .boolean
            case .real: .double
            case .decimal: .numeric
            case .timestamp: .timestamptz
            case .date: .date
            case .uuid: .uuid
            case .data: .bytea
            }
    }

    /// The type with a name of `format_type`; nil for a type that bmo does not create.
    init?(catalogName: String) {
        switch catalogName {
        case "text": self = .text
        case "bigint": self = .bigint
        case "boolean": self = .boolean
        case "double precision": self = .double
        case "numeric": self = .numeric
        case "timestamp with time zone": self = .timestamptz
        case "date": self = .date
        case "uuid": self = .uuid
        case "bytea": self = .bytea
        default: return nil
        }
    }

    /// The name in SQL.
    var name: String {
        switch self {
        case .text: "text"
        case .bigint: "bigint"
        case .boolean: "boolean"
        case .double: "double precision"
        case .numeric: "numeric"
        case .timestamptz: "timestamptz"
        case .date: "date"
        case .uuid: "uuid"
        case .bytea: "bytea"
        }
    }

    /// The type with its collation, as in a definition of a column: text sorts by its bytes.
    func definition(on engine: EngineProfile) -> String {
        self == .text && engine.hasCollations ? "text COLLATE \"C\"" : name
    }

    /// The type in which values cross the connection: the server itself converts decimal numbers from and to text.
    var transferred: SQLType { self == .numeric ? .text : self }

    /// An expression for a column's value as it crosses the connection.
    func read(_ column: String) -> String { self == .numeric ? "\(column)::text" : column }

    /// An expression for the parameter with a number.
    func parameter(_ number: Int) -> String {
        self == .numeric ? "$\(number)::text::numeric" : "$\(number)::\(name)"
    }

    /// The object ID, which is the same in every database: src/include/catalog/pg_type.dat.
    var oid: Int32 {
        switch self {
        case .text: 25
        case .bigint: 20
        case .boolean: 16
        case .double: 701
        case .numeric: 1700
        case .timestamptz: 1184
        case .date: 1082
        case .uuid: 2950
        case .bytea: 17
        }
    }
}
