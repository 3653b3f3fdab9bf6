/// Templates for new configurations.
public enum ConfigurationTemplate {
    /// Returns the file that `bmo init` writes: a JSON API to adapt, with the other bridges as comments.
    ///
    /// - Parameters:
    ///   - database: The database's path, relative to the file.
    ///   - url: The API's root.
    public static func commented(database: String = "bmo.sqlite", url: String = "https://api.example.com") -> String {
        """
        # What comes from where: each entity below becomes a table that "bmo sync" keeps fresh.
        # "bmo check" validates this file without any network; "bmo schema --config" prints its JSON Schema,
        # with which an editor completes it.
        version: 1                          # of this format
        database: \(scalar(database))                # relative to this file
        # history: {keep: 90d}              # of past runs, for `bmo diff`, `bmo why` and `bmo undo`

        # A name of yours for each API, with a plugin ("bmo plugins" lists them) and the plugin's options.
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

    /// Returns the demo's configuration: three bridges, and entities that refer to each other across them.
    ///
    /// The share's password comes from the environment variable `DEMO_SMB_PASSWORD`.
    ///
    /// - Parameters:
    ///   - restURL: The root of the JSON API.
    ///   - soapWSDL: The URL of the SOAP service's WSDL.
    ///   - smbURL: The share, without user and password.
    public static func demo(restURL: String, soapWSDL: String, smbURL: String) -> String {
        """
        # The countries of the world from three kinds of servers in one database.
        version: 1
        database: bmo.sqlite

        bridges:
          registry:                         # JSON over HTTP
            plugin: rest
            options:
              url: \(scalar(restURL))
          gazetteer:                        # SOAP
            plugin: soap
            options:
              wsdl: \(scalar(soapWSDL))
          files:                            # a file share
            plugin: smb
            options:
              url: \(scalar(smbURL))
              user: demo
              password: {env: DEMO_SMB_PASSWORD}

        entities:
          Country:
            bridge: registry
            key: alpha2
            attributes:
              alpha2: {type: text, from: alpha_2}
              alpha3: {type: text, from: alpha_3}
              numeric: text
              name: text
              officialName: {type: text, from: official_name}
            relationships:
              subdivisions: {many: Subdivision, inverse: country}
              documents: {many: Document, inverse: country}
            rest:
              path: /countries
              records: $.items
              paging: {style: page, page_parameter: page, size_parameter: per_page, size: 100}

          Currency:
            bridge: registry
            key: code
            attributes:
              code: {type: text, from: alpha_3}
              name: text
              numeric: text
            rest:
              path: /currencies
              records: $.items
              paging: {style: page, page_parameter: page, size_parameter: per_page, size: 100}

          Language:                         # a bare list; the next page is in a Link header
            bridge: registry
            key: code
            attributes:
              code: {type: text, from: alpha_3}
              alpha2: {type: text, from: alpha_2}
              name: text
            rest:
              path: /languages
              query: {limit: 100}
              paging: {style: link_header}

          Subdivision:
            bridge: gazetteer
            key: code
            attributes:
              code: text
              name: text
              type: text
            relationships:
              country: {to: Country, from: countryCode}
              parent: {to: Subdivision, from: parentCode}
            soap:
              operation: ListSubdivisions
              records: ListSubdivisionsResponse/subdivisions/subdivision
              paging:
                style: offset
                offset_element: offset
                limit_element: limit
                size: 1000
                total: ListSubdivisionsResponse/total

          Document:                         # every file of a country's folder is a record
            bridge: files
            key: path
            attributes:
              path: text
              name: text
              size: integer
              modified: timestamp
            relationships:
              country: {to: Country}
            smb:
              files: countries/{country}/*

          CountryName:                      # every line of a CSV file is a record
            bridge: files
            key: alpha2
            attributes:
              alpha2: {type: text, from: alpha_2}
              officialName: {type: text, from: official_name, transform: empty_as_null}
              commonName: {type: text, from: common_name, transform: empty_as_null}
              numeric: text
            relationships:
              country: {to: Country, from: alpha_2}
            smb:
              csv: tables/country_names.csv

        """
    }

    /// Returns `text` as a YAML scalar: plain if that is safe, otherwise in single quotes.
    private static func scalar(_ text: String) -> String {
        let safe = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:%?=&+~@".unicodeScalars)
        let isPlain =
            text.unicodeScalars.allSatisfy(safe.contains)
            && text.unicodeScalars.first.map { $0.properties.isAlphabetic } == true
            && !text.hasSuffix(":") && CoreSchema.resolve(text) == .string(text)
        if isPlain { return text }
        return "'" + text.replacing("'", with: "''").replacing("\n", with: " ") + "'"
    }
}
