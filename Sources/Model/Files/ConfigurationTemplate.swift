/// Templates for new configurations.
public enum ConfigurationTemplate {
    /// Returns the file that `bmo init` writes: a JSON API to adapt, with the other bridges as comments.
    ///
    /// - Parameters:
    ///   - database: The database's path, relative to the file.
    ///   - url: The API's root.
    public static func commented(database: String = "bmo.sqlite", url: String = "https://api.example.com") -> String {
        """
        # Where the data comes from: each entity below becomes a table that "bmo sync" keeps up to date.
        # "bmo check" validates this file without any network; "bmo schema --config" prints its JSON Schema,
        # with which an editor completes it.
        version: 1                          # of this format
        database: \(scalar(database))                # relative to this file
        # history: {keep: 90d}              # of past runs, for `bmo diff`, `bmo why` and `bmo undo`

        # Your name for each API, with a plugin ("bmo plugins" lists them) and the plugin's options.
        bridges:
          api:
            plugin: rest
            options:
              url: \(scalar(url))
              # A secret is never written here: name an environment variable or a file.
              # auth: {type: bearer, token: {env: API_TOKEN}}

          # gazetteer:
          #   plugin: soap
          #   options:
          #     wsdl: https://api.example.com/service.wsdl

          # files:
          #   plugin: smb
          #   options:
          #     url: smb://server.example.com/share
          #     user: me
          #     password: {file: smb-password}    # relative to this file

        entities:
          Author:
            bridge: api
            key: id                         # what identifies a record; a list of names where one is not enough
            attributes:
              id: integer                   # NAME: TYPE reads the record's member NAME
              name: text
              email: {type: text, from: contact.email, transform: [trim, lowercase]}
              joined: {type: timestamp, from: created_at}
            relationships:
              articles: {many: Article, inverse: author}
            rest:                           # the entity's own section: named as the bridge's plugin
              path: /authors

          Article:
            bridge: api
            key: id
            attributes:
              id: integer
              title: text
              status: {type: text, transform: {map: {P: published, D: draft}}}
            relationships:
              author: {to: Author, from: author_id}
            rest:
              path: /articles
              # records: $.items            # where the reply has its list; default: the reply itself
              # paging: {style: page, page_parameter: page, size_parameter: per_page, size: 100}

          # Region:
          #   bridge: gazetteer
          #   key: code
          #   attributes:
          #     code: text
          #     name: text
          #   soap:
          #     operation: ListRegions
          #     records: ListRegionsResponse/regions/region

          # Document:
          #   bridge: files
          #   key: path
          #   attributes:
          #     path: text
          #     size: integer
          #     modified: timestamp
          #   smb:
          #     files: documents/*

        """
    }

    /// Returns `text` as a YAML scalar: plain if that is safe, otherwise in single quotes.
    package static func scalar(_ text: String) -> String {
        let safe = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:%?=&+~@".unicodeScalars)
        let isPlain =
            text.unicodeScalars.allSatisfy(safe.contains)
            && text.unicodeScalars.first.map { $0.properties.isAlphabetic } == true
            && !text.hasSuffix(":") && CoreSchema.resolve(text) == .string(text)
        if isPlain { return text }
        return "'" + text.replacing("'", with: "''").replacing("\n", with: " ") + "'"
    }
}
