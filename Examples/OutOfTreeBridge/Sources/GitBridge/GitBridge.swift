/// GitBridge: the commits and references of a local git repository as records, by libgit2.
///
/// An example of a bridge for a third kind of source: written with the public kit alone, in a package of its own.
import BridgeKit
import CLibGit2

/// Reads one repository.
final class GitBridge: Bridge {
    static let descriptor = BridgeDescriptor(
        name: "git", version: "0.1.0", summary: "Commits, branches and tags of a local git repository.",
        optionsSchema: """
            {
                "type": "object", "additionalProperties": false, "required": ["repository"],
                "properties": {
                    "repository": {"type": "string", "minLength": 1, "description": "The repository's folder"}
                }
            }
            """,
        entitySchema: """
            {
                "type": "object", "additionalProperties": false,
                "properties": {
                    "list": {
                        "type": "string", "enum": ["commits", "references"], "default": "commits",
                        "description": "What the records are"
                    },
                    "from": {
                        "type": "string", "default": "HEAD",
                        "description": "Of commits: the revision whose history is listed, as git names it"
                    }
                }
            }
            """,
        capabilities: [.check, .discover, .fetch, .resume, .incremental])

    private let path: String

    init(options: BridgeOptions, context: BridgeContext) throws {
        guard let path = options.string("repository") else {
            throw BridgeError(.configuration, "the option `repository` is missing")
        }
        self.path = path
        git_libgit2_init()
    }

    deinit { git_libgit2_shutdown() }

    func check() throws -> String? {
        let repository = try Repository(path)
        return "\(path), at \(try repository.resolve("HEAD"))"
    }

    func discover(into writer: RecordBatchWriter) throws {
        EntityDescription(
            "Commit",
            fields: [
                .init("id", "text", isKey: true), .init("summary", "text"), .init("message", "text"),
                .init("author", "text"), .init("email", "text"), .init("time", "timestamp"), .init("parents", "json"),
            ], section: BridgeOptions { $0.member("list", "commits") }
        ).write(to: writer)
        EntityDescription(
            "Reference",
            fields: [.init("name", "text", isKey: true), .init("target", "text"), .init("is_tag", "boolean")],
            section: BridgeOptions { $0.member("list", "references") }
        ).write(to: writer)
    }

    func fetch(_ request: FetchRequest) throws -> any RecordSource {
        let repository = try Repository(path)
        if request.section.string("list") == "references" {
            guard request.cursor == nil else {
                throw BridgeError(.configuration, "a list of references has no resume points")
            }
            return ReferenceSource(repository)
        }
        return try CommitSource(
            repository, from: request.section.string("from") ?? "HEAD", cursor: request.cursor, token: request.token)
    }
}

// The two symbols that the host looks for.
private let export = BridgeExport(GitBridge.self)

/// Tells the host who this is.
@c(bmo_bridge_info_v1)
public func bridgeInfo() -> UnsafePointer<bmo_bridge_info>? { export.info }

/// Gives the host the functions of the bridge.
@c(bmo_bridge_entry_v1)
public func bridgeEntry(major: UInt16, minor: UInt16) -> UnsafePointer<bmo_bridge_table>? {
    export.table(major: major, minor: minor)
}
