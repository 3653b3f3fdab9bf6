internal import BridgeHTTP
internal import BridgeKit

/// The validated options of a SOAP bridge.
struct SOAPOptions: Sendable {
    let wsdl: DocumentLocation
    let endpoint: HTTPURL?
    let service: String?
    let port: String?
    let version: SOAPVersion?
    /// Further hosts that the WSDL's imports may use.
    let importHosts: Set<String>
    var cache: DocumentCache?
    let headers: InputValue
    let security: MessageSecurity?
    let addressing: MessageAddressing?
    let faultRules: [SOAPFaultRule]
    let http: HTTPOptions
    /// Whether any option is confidential to the configured origin.
    let hasCredentials: Bool

    static let schema = #"""
        {
          "type": "object",
          "additionalProperties": false,
          "$defs": {"content": \#(InputValue.schema)},
          "required": ["wsdl"],
          "properties": {
            "wsdl": {"type": "string", "format": "path", "description": "The WSDL: an http(s) URL, or the path of a file, from the configuration's folder."},
            "endpoint": {"type": "string", "description": "The URL to call, instead of the WSDL's soap:address."},
            "service": {"type": "string", "description": "The WSDL's service; default: the first."},
            "port": {"type": "string", "description": "The service's port; default: the first with a SOAP binding."},
            "soap_version": {"type": "string", "enum": ["1.1", "1.2"], "description": "The version to speak; default: the port's. Without port, it also chooses the port."},
            "import_hosts": {"type": "array", "items": {"type": "string"}, "description": "Further hosts that the WSDL's imports may be fetched from, without credentials."},
            "wsdl_cache": {"type": "string", "description": "The folder where documents that came with an ETag are kept; empty for none. Default: bmo/wsdl in $XDG_CACHE_HOME or ~/.cache."},
            "soap_headers": {"type": "object", "x-secrets": true, "additionalProperties": {"$ref": "#/$defs/content"}, "description": "Blocks for the header of each request: names (with a namespace as {namespace}name, where the WSDL does not say it) and their contents, as in an entity's input."},
            "security": \#(MessageSecurity.schema),
            "addressing": \#(MessageAddressing.schema),
            "faults": \#(SOAPFaultRule.schema),
        \#(HTTPOptions.schemaProperties)
          }
        }
        """#

    /// Reads and validates the options.
    ///
    /// - Throws: ``BridgeError`` configuration with the option's name.
    init(_ options: BridgeOptions) throws {
        http = try HTTPOptions(options)
        guard let text = options.string("wsdl"), !text.isEmpty else {
            throw BridgeError(.configuration, "the option wsdl is missing", remedy: "set it to the WSDL's URL or path")
        }
        guard let wsdl = DocumentLocation(text), !wsdl.authority.contains("@") else {
            throw BridgeError(
                .configuration, "the option wsdl is neither an absolute path nor an http(s) URL without a password",
                remedy: "write it as https://host/service?wsdl or /path/to/service.wsdl",
                location: http.redactor.clean(url: text))
        }
        self.wsdl = wsdl
        if let text = options.string("endpoint") {
            guard let url = HTTPURL(text), !url.hasUserInfo else {
                throw BridgeError(
                    .configuration, "the option endpoint is not an http(s) URL, or holds a password",
                    remedy: "write it as https://host/path, with the password under auth",
                    location: http.redactor.clean(url: text))
            }
            endpoint = url
        } else {
            endpoint = nil
        }
        service = options.string("service")
        port = options.string("port")
        if let text = options.string("soap_version") {
            guard let version = SOAPVersion(rawValue: text) else {
                throw BridgeError(
                    .configuration, "soap_version is \"\(text)\"", remedy: "write \"1.1\" or \"1.2\", in quotes")
            }
            self.version = version
        } else {
            version = nil
        }
        importHosts = Set(options.strings("import_hosts").map { $0.lowercased() })
        let folder = options.string("wsdl_cache") ?? DocumentCache.userFolder ?? ""
        guard folder.isEmpty || folder.hasPrefix("/") else {
            throw BridgeError(
                .configuration, "wsdl_cache is \"\(folder)\"", remedy: "write an absolute path, or nothing for no cache"
            )
        }
        cache = folder.isEmpty ? nil : DocumentCache(folder: folder)
        headers = options.withValue("soap_headers") { value in value.map(InputValue.init) ?? .object([]) }
        hasCredentials =
            !headers.isEmptyObject || ["auth", "headers", "security"].contains { options.names.contains($0) }
        security = try MessageSecurity(options.object("security"))
        addressing = try MessageAddressing(options.object("addressing"))
        faultRules = try SOAPFaultRule.rules(options)
    }
}
