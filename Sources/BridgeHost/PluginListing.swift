/// A file that was looked at as a plugin: a bridge, or the reason why it is none.
public struct PluginListing: Sendable, Equatable {
    /// Where a bridge's code runs.
    public enum Isolation: String, Sendable {
        /// In the host's process.
        case inProcess = "in_process"
        /// In a process of its own, which costs a copy of each batch and survives a crash.
        case childProcess = "child_process"
    }

    /// The file.
    public var path: String
    /// What a configuration calls the bridge; the file's name where it did not say.
    public var name: String
    /// The bridge's own version.
    public var version = ""
    /// The contract's version that it was built for, as `1.0`.
    public var abi = ""
    /// The kit that it was written with, and its version.
    public var kit = ""
    /// What compiled it.
    public var compiler = ""
    /// What it does, in a line.
    public var summary = ""
    /// What it can do: check, discover, fetch, create, update, delete, resume, and what a later contract adds.
    public var capabilities: [String] = []
    /// Where it asks to run.
    public var isolation = Isolation.inProcess
    /// Whether one instance serves several fetches at a time.
    public var isConcurrent = false
    /// The JSON Schema of the configuration's `options:`; a secret has `"writeOnly": true`.
    public var optionsSchema = ""
    /// The JSON Schema of an entity's own section.
    public var entitySchema = ""
    /// Who put it where it was found.
    public var origin = SearchPath.Origin.named
    /// Why it can't be used, in words; nil when it can.
    public var refusal: String?

    /// Whether the bridge says that it can do something.
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
