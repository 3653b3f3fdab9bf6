/// A place that uses the notes and topics of Fixtures/rest/objects.py.
package protocol NoteRemote {
    var server: RemoteServer { get }

    /// How the server behaves; the first part of its paths.
    var style: String { get }
}

extension NoteRemote {
    /// Returns a configuration for the notes and topics.
    ///
    /// - Parameters:
    ///   - url: another server than the place's own.
    ///   - match: a line of the entity Note.
    ///   - more: further lines of it.
    package func configuration(
        url: String? = nil, timeout: Int = 5, match: String? = "match: [text]", readOne: Bool = true, more: String = ""
    ) -> String {
        let one =
            readOne ? "read_one: {path: \"/\(style)/notes/{parent.id}\", header_fields: {etag: etag}}" : "# no read_one"
        return """
            version: 1
            bridges: {api: {plugin: rest, options: {url: "\(url ?? server.url)", timeout: \(timeout)}}}
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
        try await ProcessRun.run("curl", ["-s", "--max-time", "10"] + arguments + ["\(server.url)/\(path)"]).output
    }

    /// What the server has, as curl reads it.
    package func remote(_ path: String = "notes") async throws -> String { try await curl("\(style)/\(path)") }

    /// Changes a note behind bmo's back.
    package func change(_ id: Int, _ json: String) async throws {
        _ = try await curl("\(style)/notes/\(id)", "-X", "PATCH", "-H", "Content-Type: application/json", "-d", json)
    }
}
