internal import BridgeContract
internal import Mapping
internal import RecordBatch
internal import StoreContract

/// What a request of the library adds to the requests of its bridge.
struct ScanTerms: Sendable {
    /// The largest number of parameters.
    private static let maxParameters = 100
    /// The largest size of all parameters with their names, in bytes.
    private static let maxParameterBytes = 16 << 10

    private(set) var userInfo: BridgeOptions?
    private(set) var parameters: BridgeOptions?
    /// The paths of the values that are needed; nil for every value that the mapping reads.
    private(set) var fieldPaths: [[String]]?
    private(set) var pageSize: Int?
    /// The rank among what waits for the same bridge.
    private(set) var priority = 0

    /// Nothing.
    init() {}

    /// Whether the remote may bring other records than the listing of a sync has, or parts of them: what is missing says
    /// nothing then, and the next sync does not continue from there.
    var changesListing: Bool { userInfo != nil || parameters != nil || fieldPaths != nil }

    /// Creates the terms of a request.
    ///
    /// - Throws: ``RequestError`` for terms that do not fit the entity, or that the bridge cannot take.
    init(_ request: ObjectRequest, _ plan: ScanPlan, in workspace: Workspace) throws(RequestError) {
        userInfo = try Self.userInfo(request, plan, workspace)
        parameters = try Self.parameters(request, plan, workspace)
        fieldPaths = try Self.fieldPaths(request, plan, workspace)
        pageSize = request.pageSize
        priority = request.priority.rawValue
        guard pageSize ?? 1 > 0 else {
            throw Self.refusal(
                request, "request", "a page cannot have \(pageSize ?? 0) records", "use a positive pageSize, or nil")
        }
    }

    /// Creates the terms of a fetch along with a request, for objects of another entity: its user info and its rank.
    init(alongWith request: ObjectRequest, _ plan: ScanPlan, in workspace: Workspace) {
        if Self.hasUserInfo(request, of: plan.bridge, in: workspace) {
            userInfo = request.userInfo.flatMap { BridgeOptions(json: $0.json) }
        }
        priority = request.priority.rawValue
    }

    /// Whether a bridge receives the user info of a request.
    static func hasUserInfo(_ request: ObjectRequest, of bridge: String, in workspace: Workspace) -> Bool {
        guard let info = request.userInfo, info.delivery != .never else { return false }
        return workspace.can("user_info", bridge)
    }

    func apply(to fetch: inout FetchRequest) {
        fetch.userInfo = userInfo
        fetch.parameters = parameters
        if let fieldPaths { fetch.fieldPaths = fieldPaths }
        if let pageSize { fetch.pageSize = pageSize }
        fetch.priority = priority
    }

    private static func refusal(
        _ request: ObjectRequest, _ code: String, _ message: String, _ remedy: String
    ) -> RequestError {
        RequestError(
            code == "unsupported" ? .translating : .requested, entity: request.entity, code: code, message,
            remedy: remedy)
    }

    private static func userInfo(
        _ request: ObjectRequest, _ plan: ScanPlan, _ workspace: Workspace
    ) throws(RequestError) -> BridgeOptions? {
        guard let info = request.userInfo else { return nil }
        guard hasUserInfo(request, of: plan.bridge, in: workspace) else {
            guard info.delivery == .required else { return nil }
            throw refusal(
                request, "unsupported", "the bridge \(plan.bridge) takes no user info, and the request requires it to",
                "give the user info without \"delivery: .required\": then your program alone has it")
        }
        return BridgeOptions(json: info.json)
    }

    private static func parameters(
        _ request: ObjectRequest, _ plan: ScanPlan, _ workspace: Workspace
    ) throws(RequestError) -> BridgeOptions? {
        guard !request.parameters.isEmpty else { return nil }
        guard workspace.can("parameters", plan.bridge) else {
            throw refusal(
                request, "unsupported", "the bridge \(plan.bridge) takes no parameters with a request",
                "remove them, or write them into the section of \(plan.entity.name)")
        }
        var size = 0
        for (name, value) in request.parameters {
            switch value {
            case .null, .data, .json:
                throw refusal(
                    request, "request", "the parameter \(name.debugDescription) is not a plain value",
                    "use a text, a number, a bool, a date or the like")
            default: size += name.utf8.count + value.description.utf8.count
            }
        }
        guard request.parameters.count <= maxParameters, size <= maxParameterBytes else {
            throw refusal(
                request, "limit",
                "the request has \(request.parameters.count) parameters of \(size) bytes; the limits are \(maxParameters) and "
                    + "\(maxParameterBytes)", "give the remote fewer")
        }
        return BridgeOptions { writer in
            for (name, value) in request.parameters.sorted(by: { $0.key < $1.key }) {
                switch value {
                case .boolean(let value): writer.member(name, value)
                case .integer(let value): writer.member(name, value)
                case .real(let value): writer.member(name, value)
                default: writer.member(name, value.description)
                }
            }
        }
    }

    private static func fieldPaths(
        _ request: ObjectRequest, _ plan: ScanPlan, _ workspace: Workspace
    ) throws(RequestError) -> [[String]]? {
        guard let fields = request.fields, let index = workspace.model.index(of: request.entity) else { return nil }
        let layout = workspace.model.entities[index]
        let known =
            layout.columns.filter { $0.relationship == nil }.map(\.name) + layout.toOne.map(\.name)
            + layout.toMany.map(\.name)
        if let odd = fields.first(where: { !known.contains($0) }) {
            throw refusal(
                request, "request", "\(request.entity) has no attribute or relationship \"\(odd)\"",
                "it has: \(known.joined(separator: ", "))")
        }
        var needed = Set(fields + layout.keyFields.map(\.name) + request.sort.map(\.field))
        needed.formUnion(request.predicate?.fieldNames ?? [])
        needed.formUnion(request.including.compactMap { $0.split(separator: ".").first.map(String.init) })
        // What says which of two values is newer is needed with any field.
        if case .field(let attribute, _, _)? = workspace.model.model.entities[index].incremental {
            needed.insert(attribute)
        }
        return workspace.model.readPaths(of: plan.mapping) { needed.contains($0) }
    }
}

extension QueryPredicate {
    /// The names of the values that it compares.
    fileprivate var fieldNames: [String] {
        switch self {
        case .compare(let name, _, _), .isNull(let name), .isIn(let name, _): [name]
        case .all(let parts), .any(let parts): parts.flatMap(\.fieldNames)
        case .not(let part): part.fieldNames
        }
    }
}
