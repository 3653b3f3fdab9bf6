/// ForgeBridge: issues, labels and releases of a repository on a forge, by the API of Gitea and Forgejo.
///
/// An example of a bridge that is made of bmo's parts: requests with authentication, limits and recording, a path template,
/// paging, and JSON that goes into batches as it is parsed.
import BridgeHTTP
import BridgeJSON
import BridgeKit
import BridgePaging

/// Reads one repository's lists.
final class ForgeBridge: Bridge {
    static let descriptor = BridgeDescriptor(
        name: "forge", version: "0.1.0", summary: "Issues, labels and releases of a repository on a forge.",
        optionsSchema: #"""
            {
                "type": "object", "additionalProperties": false, "required": ["url", "owner", "repository"],
                "properties": {
                    "url": {"type": "string", "description": "The forge's API, such as https://codeberg.org/api/v1"},
                    "owner": {"type": "string", "minLength": 1, "description": "The user or organisation"},
                    "repository": {"type": "string", "minLength": 1, "description": "The repository's name"},
                    \#(HTTPOptions.schemaProperties)
                }
            }
            """#,
        entitySchema: """
            {
                "type": "object", "additionalProperties": false,
                "properties": {
                    "list": {
                        "type": "string", "enum": ["issues", "labels", "releases"], "default": "issues",
                        "description": "What the records are"
                    },
                    "state": {
                        "type": "string", "enum": ["open", "closed", "all"],
                        "description": "Of issues: which ones; without it, the forge's choice"
                    }
                }
            }
            """,
        isConcurrent: true, capabilities: [.check, .discover, .fetch, .resume, .replay])

    private let client: HTTPClient
    private let url: HTTPURL
    private let names: [String: String]
    private let path: PathTemplate

    init(options: BridgeOptions, context: BridgeContext) throws {
        guard let url = options.string("url").flatMap({ HTTPURL($0) }) else {
            throw BridgeError(.configuration, "the option `url` is no http or https URL")
        }
        self.url = url
        names = ["owner": options.string("owner") ?? "", "repository": options.string("repository") ?? ""]
        path = try PathTemplate("/repos/{owner}/{repository}(/{list}(?state={state}))", option: "path")
        // Headers, authentication, TLS, proxy, time limits and rate limits, as HTTPOptions.schemaProperties declares them.
        client = try HTTPClient(options: HTTPOptions(options), context: context)
    }

    /// The URL of a list, or without one of the repository.
    private func address(list: String? = nil, state: String? = nil) throws -> HTTPURL {
        let values = ["list": list, "state": state]
        guard let path = try path.expand({ names[$0] ?? values[$0] ?? nil }), let address = url.appending(path: path)
        else { throw BridgeError(.configuration, "the repository has no address below `url`") }
        return address
    }

    func check() throws -> String? {
        let exchange = client.start(HTTPRequest(url: try address().text))
        guard try exchange.response().status == 200 else { throw try exchange.statusError(asked: "the repository") }
        return try JSONTree(parsing: exchange.body(), what: "the repository")["full_name"]?.text
    }

    func discover(into writer: RecordBatchWriter) throws {
        EntityDescription(
            "Issue",
            fields: [
                .init("number", "integer", isKey: true), .init("title", "text"), .init("state", "text"),
                .init("created_at", "timestamp"),
            ],
            section: BridgeOptions {
                $0.member("list", "issues")
                $0.member("state", "all")
            }
        ).write(to: writer)
        EntityDescription(
            "Label", fields: [.init("id", "integer", isKey: true), .init("name", "text")],
            section: BridgeOptions { $0.member("list", "labels") }
        ).write(to: writer)
        EntityDescription(
            "Release",
            fields: [.init("id", "integer", isKey: true), .init("tag_name", "text"), .init("name", "text")],
            section: BridgeOptions { $0.member("list", "releases") }
        ).write(to: writer)
    }

    func fetch(_ request: FetchRequest) throws -> any RecordSource {
        let start = try address(
            list: request.section.string("list") ?? "issues", state: request.section.string("state"))
        return try ListSource(client, start, request)
    }
}

// The two symbols that the host looks for.
private let export = BridgeExport(ForgeBridge.self)

/// Tells the host who this is.
@c(bmo_bridge_info_v1)
public func bridgeInfo() -> UnsafePointer<bmo_bridge_info>? { export.info }

/// Gives the host the functions of the bridge.
@c(bmo_bridge_entry_v1)
public func bridgeEntry(major: UInt16, minor: UInt16) -> UnsafePointer<bmo_bridge_table>? {
    export.table(major: major, minor: minor)
}
