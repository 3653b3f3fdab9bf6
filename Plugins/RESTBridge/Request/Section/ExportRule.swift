internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import BridgePaging

/// How a listing is exported by a job of the API: the section's `export`.
///
/// A request creates the job, others ask for its state until it is done, and then the files with the records are read.
struct ExportRule: Sendable {
    /// Where the files are.
    enum Files: Sendable {
        /// At URLs that the status names.
        case named(JSONPath)
        /// At one path of the API.
        case path(PathTemplate)
    }

    let create: ExportRequest
    let status: ExportRequest
    /// The place of the job's id in the reply to `create`; nil if `statusURL` identifies it.
    let id: ReplyPlace
    /// The place of the status's URL in the reply to `create`.
    let statusURL: ReplyPlace?
    let state: ReplyPlace
    let done: Set<String>
    let failed: Set<String>
    /// The place of the reason of a failure.
    let message: ReplyPlace?
    /// The paths of signs of failure beside the state of a job that is done which do not matter.
    let accepted: Set<String>
    /// The seconds between two requests for the state.
    let interval: Double
    /// The seconds within which the job has to be done.
    let timeLimit: Double
    let files: Files
    /// The origins besides url's that get credentials.
    let trusted: Set<HTTPURL.Origin>

    /// Members of the section that are about a listing's own requests and replies.
    private static let unusable = [
        "path", "method", "query", "body", "body_format", "graphql", "preset", "paging", "columns", "filters",
        "incremental", "responses", "metadata", "header_fields",
    ]
    /// The most files of one job.
    static let maxFiles = 10_000

    /// - Returns: nil if the section has no export.
    init?(_ section: BridgeOptions) throws {
        guard section.has("export") else { return nil }
        if let name = Self.unusable.first(where: section.has) {
            throw BridgeError(
                .configuration, "\(name) cannot be combined with export",
                remedy: "write what the requests need under export.create and export.status")
        }
        if section.object("each")?.has("id") == true {
            throw BridgeError(
                .configuration, "each.id cannot be combined with export, whose job is {id}",
                remedy: "choose another name")
        }
        let options = section.object("export") ?? .empty
        func part(_ name: String) throws -> BridgeOptions {
            guard let part = options.object(name) else {
                throw BridgeError(
                    .configuration, "export.\(name) is missing", remedy: "an export has create, status and files")
            }
            return part
        }
        func place(_ options: BridgeOptions, _ option: String) throws -> ReplyPlace? {
            try options.string(String(option.split(separator: ".").last ?? "")).map {
                try ReplyPlace($0, option: "export.\(option)")
            }
        }
        let (create, status, files) = (try part("create"), try part("status"), try part("files"))
        self.create = try ExportRequest(create, option: "export.create", defaultMethod: "POST")
        self.status = try ExportRequest(status, option: "export.status", defaultMethod: "GET")
        statusURL = try place(create, "create.status_url")
        id = try place(create, "create.id") ?? ReplyPlace("$.id", option: "export.create.id")
        guard status.has("path") != (statusURL != nil) else {
            throw BridgeError(
                .configuration, "export needs either status.path or create.status_url",
                remedy: "write path: \"/jobs/{id}\" under status, or where the reply to create has the status's URL")
        }
        guard let state = try place(status, "status.state") else {
            throw BridgeError(
                .configuration, "export.status.state is missing", remedy: "say where the reply has the job's state")
        }
        self.state = state
        message = try place(status, "status.message")
        accepted = Set(
            try status.strings("accept").map { try JSONPath($0, option: "export.status.accept").description })
        done = Set(status.strings("done"))
        failed = Set(status.strings("failed"))
        guard !done.isEmpty else {
            throw BridgeError(
                .configuration, "export.status.done is missing", remedy: "list the states of a job that is done")
        }
        if let both = done.intersection(failed).sorted().first {
            throw BridgeError(
                .configuration, "export.status has \"\(both)\" under done and under failed",
                remedy: "remove one of them")
        }
        interval = status.number("interval") ?? 5
        guard (0.1...3600).contains(interval) else {
            throw BridgeError(
                .configuration, "export.status.interval is \(status.string("interval") ?? "")",
                remedy: "it must be from 0.1 to 3600 seconds")
        }
        timeLimit = status.number("time_limit") ?? 3600
        guard timeLimit >= interval, timeLimit <= 604_800 else {
            throw BridgeError(
                .configuration, "export.status.time_limit is \(status.string("time_limit") ?? "3600")",
                remedy: "it must be from the interval to 604800 seconds, a week")
        }
        self.files = try Self.files(files)
        trusted = try Self.origins(files.strings("credentials_for"))
    }

    private static func files(_ options: BridgeOptions) throws -> Files {
        switch (options.string("urls"), options.string("path")) {
        case (let urls?, nil): .named(try JSONPath(urls, option: "export.files.urls"))
        case (nil, let path?): .path(try PathTemplate(path, option: "export.files.path"))
        default:
            throw BridgeError(
                .configuration, "export.files needs either urls or path",
                remedy: "say where the status has the files' URLs, such as $.files[*].url, or the path of one file")
        }
    }

    private static func origins(_ texts: [String]) throws -> Set<HTTPURL.Origin> {
        try Set(
            texts.map { text in
                guard let url = HTTPURL(text), !url.hasUserInfo, url.path == "/", url.queryPairs.isEmpty else {
                    throw BridgeError(
                        .configuration, "export.files.credentials_for: \"\(text)\" is not an origin",
                        remedy: "write scheme and host, such as https://files.example.com")
                }
                return url.origin
            })
    }
}
