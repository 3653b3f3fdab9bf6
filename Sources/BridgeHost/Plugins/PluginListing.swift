/// An inspected file: a bridge, or the reason why it cannot be used as one.
public struct PluginListing: Sendable, Equatable {
    /// Where a bridge's code runs.
    public enum Isolation: String, Sendable {
        /// In the host's process.
        case inProcess = "in_process"
        /// In a separate process, which costs a copy of each batch and isolates crashes.
        case childProcess = "child_process"
    }

    /// The file's path.
    public var path: String
    /// The bridge's name in a configuration; the file's name if the plugin did not state one.
    public var name: String
    /// The bridge's own version.
    public var version = ""
    /// The contract version that it was built for, such as `1.0`.
    public var abi = ""
    /// The name and version of the kit that it was written with.
    public var kit = ""
    /// The compiler that built it.
    public var compiler = ""
    /// A one-line summary.
    public var summary = ""
    /// Its capabilities: check, discover, fetch, create, update, delete, resume, and those added by later contracts.
    public var capabilities: [String] = []
    /// The isolation that it asks for.
    public var isolation = Isolation.inProcess
    /// Whether one instance serves several fetches at a time.
    public var isConcurrent = false
    /// The JSON Schema of the configuration's `options:`; a secret has `"writeOnly": true`.
    public var optionsSchema = ""
    /// The JSON Schema of an entity's own section.
    public var entitySchema = ""
    /// The origin of the file.
    public var origin = SearchPath.Origin.named
    /// The SHA-256 that the file is pinned to and must have when it is loaded; nil if it is not pinned.
    var digest: String?
    /// The reason why it cannot be used; nil if it can.
    public var refusal: String?

    /// Returns whether the bridge has a capability.
    public func can(_ capability: String) -> Bool { capabilities.contains(capability) }

    init(path: String, refusal: String) {
        self.path = path
        name = path.split(separator: "/").last.map(String.init) ?? path
        self.refusal = refusal
    }

    init(path: String, identity: PluginIdentity) {
        self.path = path
        name = identity.name
        version = identity.version
        abi = "\(identity.abiMajor).\(identity.abiMinor)"
        kit = identity.kit
        compiler = identity.compiler
    }
}
