internal import BMO
internal import BridgeHost
internal import Model
internal import RecordBatch

/// What `bmo check` finds, told as it comes: in words, or as a JSON array of objects.
struct CheckReport {
    /// How much something matters.
    private enum Severity: String {
        case error, warning, note
    }

    private let json: Bool
    private var array = JSONArrayPrinter()
    /// Whether something that was found keeps a bridge or an entity from working.
    private(set) var hasFailed = false

    init(json: Bool) { self.json = json }

    /// A fault of the configuration, or a warning of it.
    mutating func add(_ diagnostic: Diagnostic) {
        guard json else { return Terminal.error(diagnostic.description, prefix: "") }
        print(
            Severity(rawValue: diagnostic.severity.rawValue) ?? .error, message: diagnostic.message,
            remedy: diagnostic.remedy, location: diagnostic.location)
    }

    /// A bridge that could not judge its sections, for want of a secret.
    mutating func add(unjudged bridge: String) {
        let words = "the sections of bridge \(bridge) were not judged by it: a secret is not there"
        guard json else { return Terminal.error(words, prefix: "bmo: note: ") }
        print(.note, bridge: bridge, message: words)
    }

    /// What a bridge says of an entity's section.
    mutating func add(_ check: EntityCheck, of bridge: String) {
        for warning in check.warnings {
            if json {
                print(.warning, bridge: bridge, entity: check.entity, message: warning)
            } else {
                Terminal.error("\(check.entity): \(warning)", prefix: "bmo: warning: ")
            }
        }
        guard let failure = check.failure else { return }
        hasFailed = true
        if json {
            print(failure, bridge: bridge, entity: check.entity)
        } else {
            Terminal.error("\(check.entity): \(failure)")
        }
    }

    /// Why a bridge cannot be used.
    mutating func add(_ error: any Error, of bridge: String) {
        hasFailed = true
        if let failure = error as? BridgeFailure {
            // It names the bridge itself.
            if json { print(failure, bridge: bridge) } else { Terminal.error("\(failure)") }
        } else if json {
            print(.error, bridge: bridge, message: "\(error)")
        } else {
            Terminal.error("\(bridge): \(error)")
        }
    }

    /// What is well, which only a person wants to read.
    func say(_ words: String) { if !json { Swift.print(words) } }

    /// The end of the array.
    func finish() { if json { array.finish() } }

    private mutating func print(_ failure: BridgeFailure, bridge: String, entity: String? = nil) {
        let place = failure.location.map { failure.message.contains($0) ? "" : " (\($0))" } ?? ""
        print(
            .error, bridge: bridge, entity: entity, code: failure.code.rawValue, message: failure.message + place,
            remedy: failure.remedy)
    }

    private mutating func print(
        _ severity: Severity, bridge: String? = nil, entity: String? = nil, code: String? = nil, message: String,
        remedy: String? = nil, location: SourceLocation? = nil
    ) {
        array.add(
            RecordBatchWriter.json { writer in
                writer.member("severity", severity.rawValue)
                writer.member("file", location?.file)
                writer.member("line", location?.line)
                writer.member("column", location?.column)
                writer.member("bridge", bridge)
                writer.member("entity", entity)
                writer.member("code", code)
                writer.member("message", message)
                writer.member("remedy", remedy)
            })
    }
}
