internal import Model

/// A bridge of the configuration: one address and one way to authenticate.
final class BridgeDraft {
    let name: String
    let environmentPrefix: String
    private let names: InputNames
    let url: String
    var auth: [(key: String, value: ConfigValue)] = []
    /// Credentials that all requests send outside of `auth`: headers, and members of the query or body.
    var injections: [(place: RequestPlace, value: String)] = []
    var limits: [(key: String, value: ConfigValue)] = []
    private(set) var parameters: [(key: String, value: ConfigValue)] = []
    var notes: [String] = []
    var obstacles: [String] = []
    /// How the requests of all streams of the bridge may differ from Airbyte's.
    private(set) var doubts: [String] = []

    init(name: String, environmentPrefix: String, url: String, names: InputNames = InputNames()) {
        self.name = name
        self.environmentPrefix = environmentPrefix
        self.url = url
        self.names = names
    }

    /// Returns the parameter that holds an input; adds it if it is missing.
    func parameter(for input: Inputs.Open) -> String {
        let name = names.name(of: input.path)
        if !parameters.contains(where: { $0.key == name }) { parameters.append((name, reference(to: input))) }
        return name
    }

    /// Returns the reference to the environment variable with an input's value.
    func reference(to input: Inputs.Open) -> ConfigValue {
        .secret(.env("\(environmentPrefix)_\(names.name(of: input.path).uppercased())"))
    }

    /// Returns the parameter that holds a credential that the document holds literally; adds it if it is missing.
    ///
    /// - Parameter further: See ``InputNames/path(_:or:ofLiteral:)``.
    func parameter(forLiteral value: String, _ path: [String], or further: [String]) -> String {
        parameter(for: Inputs.Open(path: names.path(path, or: further, ofLiteral: value), isSecret: true))
    }

    /// Returns the reference to the environment variable for a credential that the document holds literally.
    func reference(toLiteral value: String, _ path: [String], isSecret: Bool = true) -> ConfigValue {
        reference(to: Inputs.Open(path: names.path(path, ofLiteral: value), isSecret: isSecret))
    }

    /// Whether requests of both go to the same place with the same credentials.
    func isLike(_ other: BridgeDraft) -> Bool {
        url == other.url && ConfigValue.object(auth) == .object(other.auth) && obstacles == other.obstacles
            && doubts == other.doubts
            && injections.elementsEqual(other.injections) { $0 == $1 }
    }

    func doubt(_ text: String) { if !doubts.contains(text) { doubts.append(text) } }

    func note(_ text: String) { if !notes.contains(text) { notes.append(text) } }
}

/// Where a `RequestOption` puts a value.
enum RequestPlace: Equatable {
    case query(String)
    case header(String)
    case json([String])
    case form(String)
    case path

    init(_ option: ConfigValue, _ scope: Scope) throws {
        if option.type == "RequestPath" || option["inject_into"]?.string == "path" {
            self = .path
            return
        }
        func known(_ value: ConfigValue) throws -> String {
            guard let text = try Template(value.printed, scope.with(option)).known?.printed else {
                throw Untranslatable("only Python can compute the name \(value.printed) of a parameter")
            }
            return text
        }
        let names = try option["field_path"]?.array.map { try $0.map(known) } ?? [known(option["field_name"] ?? "")]
        switch option["inject_into"]?.string {
        case "request_parameter": self = .query(names.joined(separator: "."))
        case "header": self = .header(names.joined(separator: "."))
        case "body_json": self = .json(names)
        case "body_data": self = .form(names.joined(separator: "."))
        default: throw Untranslatable("a value is sent in \(option["inject_into"]?.printed ?? "nothing")")
        }
    }

    /// The value of `paging.in`, and the parameter's name.
    var paging: (home: String, name: String)? {
        switch self {
        case .query(let name): ("query", name)
        case .header(let name): ("header", name)
        case .json(let names): ("body", names.joined(separator: "."))
        case .form(let name): ("body", name)
        case .path: nil
        }
    }

    /// Adds the value to the request of a section.
    func put(_ value: ConfigValue, in draft: EntityDraft) {
        switch self {
        case .query(let name): draft.add(name, value, to: "query")
        case .header(let name): draft.add(name, .string(value.printed), to: "headers")
        case .json(let names):
            draft.set("body", (draft.setting("body") ?? .object([])).setting(names[...], value))
        case .form(let name):
            draft.add(name, value, to: "body")
            draft.set("body_format", "form")
        case .path: draft.obstacle("a value replaces the path of its requests")
        }
    }
}
