internal import BMO
internal import BridgeHost
internal import Logging
internal import Model
internal import RecordBatch

/// Prints the findings of `bmo check` as they arrive, as text or as a JSON array of objects.
struct CheckReport {
    /// The severity of a finding.
    private enum Severity: String {
        case error, warning, note
    }

    private let json: Bool
    private var array = JSONArrayPrinter()
    /// Whether a finding keeps a bridge or an entity from working.
    private(set) var hasFailed = false

    init(json: Bool) { self.json = json }

    /// Reports an error or a warning in the configuration.
    mutating func add(_ diagnostic: Diagnostic) {
        guard json else { return Terminal.show(diagnostic) }
        print(
            Severity(rawValue: diagnostic.severity.rawValue) ?? .error, message: diagnostic.message,
            remedy: diagnostic.remedy, location: diagnostic.location)
    }

    /// Reports a bridge that could not check its sections because a secret is missing.
    mutating func add(notValidated bridge: String) {
        let words = "the sections of bridge \(bridge) were not validated by it: a secret is missing"
        guard json else { return Terminal.error(words, prefix: "bmo: note: ", facts: ["bridge": "\(bridge)"]) }
        print(.note, bridge: bridge, message: words)
    }

    /// Reports a bridge's findings about an entity's section.
    mutating func add(_ check: EntityCheck, of bridge: String) {
        for warning in check.warnings {
            if json {
                print(.warning, bridge: bridge, entity: check.entity, message: warning)
            } else {
                Terminal.error(
                    "\(check.entity): \(warning)", prefix: "bmo: warning: ",
                    facts: ["entity": "\(check.entity)", "bridge": "\(bridge)"])
            }
        }
        if let records = check.records {
            say("\(check.entity): the first page has \(Terminal.count(records, "record", "records"))")
        }
        guard let failure = check.failure else { return }
        hasFailed = true
        if json {
            print(failure, bridge: bridge, entity: check.entity)
        } else {
            Terminal.error(
                "\(check.entity): \(failure)", facts: ["entity": "\(check.entity)", "bridge": "\(bridge)"])
        }
    }

    /// Reports the reason why a bridge cannot be used.
    mutating func add(_ error: any Error, of bridge: String) {
        hasFailed = true
        if let failure = error as? BridgeFailure {
            // The failure already names the bridge.
            if json { print(failure, bridge: bridge) } else { Terminal.error("\(failure)") }
        } else if json {
            print(.error, bridge: bridge, message: "\(error)")
        } else {
            Terminal.error("\(bridge): \(error)")
        }
    }

    /// Prints a success message, as text only.
    func say(_ words: String) { if !json { Swift.print(words) } }

    /// Ends the JSON array.
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
