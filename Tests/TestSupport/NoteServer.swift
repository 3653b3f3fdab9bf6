/// The notes and topics of Fixtures/rest/objects.py, which can be listed, read and written.
package struct NoteServer: Sendable {
    /// The program.
    package let process: RemoteServer

    /// How the server behaves; the first part of its paths.
    package let style: String

    package var url: String { process.url }

    /// Starts the program, or takes one that runs.
    package init(style: String = "plain", process: RemoteServer? = nil) throws {
        self.process = try process ?? RemoteServer.fixture("objects.py")
        self.style = style
    }

    /// Returns a configuration for the notes and topics.
    ///
    /// - Parameters:
    ///   - url: the URL of another server than this one.
    ///   - match: a line of the entity Note.
    ///   - more: further lines of it.
    package func configuration(
        url: String? = nil, timeout: Int = 5, match: String? = "match: [text]", readOne: Bool = true, more: String = ""
    ) -> String {
        let one =
            readOne ? "read_one: {path: \"/\(style)/notes/{parent.id}\", header_fields: {etag: etag}}" : "# no read_one"
        return """
            version: 1
            bridges: {api: {plugin: rest, options: {url: "\(url ?? self.url)", timeout: \(timeout)}}}
            entities:
              Note:
                bridge: api
                key: id
                writable: true
                \(match ?? "# no match")
                \(one)
                \(more)
                attributes:
                  id: {type: integer, write: false}
                  text: text
                  city: {type: text, from: address.city}
                  etag: {type: text, write: false}
                relationships: {topic: {to: Topic}, tags: {many: Topic}}
                rest:
                  path: /\(style)/notes
                  records: $
                  paging: none
                  write: {create: {}, update: {format: merge_patch}, delete: {}, if_match: etag, etag_field: etag}
              Topic:
                bridge: api
                key: id
                writable: true
                match: [name]
                attributes: {id: {type: integer, write: false}, name: text}
                rest: {path: /\(style)/topics, records: $, paging: none, write: {create: {}, update: {}, delete: {}}}
            """
    }

    /// Asks the server by curl.
    package func curl(_ path: String, _ arguments: String...) async throws -> String {
        try await ProcessRun.run("curl", ["-s", "--max-time", "10"] + arguments + ["\(url)/\(path)"]).output
    }

    /// What the server has, as curl reads it.
    package func content(_ path: String = "notes") async throws -> String { try await curl("\(style)/\(path)") }

    /// Changes a note behind bmo's back.
    package func change(_ id: Int, _ json: String) async throws {
        _ = try await curl("\(style)/notes/\(id)", "-X", "PATCH", "-H", "Content-Type: application/json", "-d", json)
    }

    /// The requests that the server has logged so far.
    package func events() throws -> [RemoteServer.Event] { try process.events() }
}
