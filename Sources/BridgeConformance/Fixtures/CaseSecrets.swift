internal import BMO
internal import Foundation
internal import Model
internal import RecordBatch
internal import TextFormats

/// The readable secrets of a case's configuration.
struct CaseSecrets {
    private var known: [(name: String, text: String)] = []
    /// The server addresses that are secrets in the configuration; the errors of a replay show them, too.
    private(set) var addresses: [(key: String, value: String)] = []

    init(_ configuration: Configuration, isAddress: (String) -> Bool) {
        for bridge in configuration.bridges { look(bridge.options, configuration, isAddress) }
        for entity in configuration.model.entities {
            look(entity.section, configuration, isAddress)
            for source in entity.sources { look(source.section, configuration, isAddress) }
        }
    }

    private mutating func look(_ value: ConfigValue, _ configuration: Configuration, _ isAddress: (String) -> Bool) {
        switch value {
        case .array(let elements): for element in elements { look(element, configuration, isAddress) }
        // Without the plugin's schema, treat every object of this form as a reference.
        case .object(let members) where members.count == 1 && members[0].key == "env":
            if let name = members[0].value.string { look(.secret(.env(name)), configuration, isAddress) }
        case .object(let members) where members.count == 1 && members[0].key == "file":
            if let path = members[0].value.string { look(.secret(.file(path)), configuration, isAddress) }
        case .object(let members): for member in members { look(member.value, configuration, isAddress) }
        case .secret(let reference):
            let environment = Workspace.environment
            let name = reference.description
            guard let text = try? reference.resolve(relativeTo: configuration.directory, environment: environment),
                !known.contains(where: { $0.name == name }), !addresses.contains(where: { $0.key == name })
            else { return }
            if isAddress(text) {
                addresses.append((name, text))
            } else if text.utf8.count > 2 {
                known.append((name, text))
            }
        default: break
        }
    }

    /// Returns the reference to the first secret in the text, in any spelling; nil if there is none.
    func held(by text: String) -> String? {
        SecretFinder(known.map { ($0.text, $0.name) }, wholeWordsBelow: 0).matches(in: Array(text.utf8)).first?.mark
    }

    /// Returns the text with the secrets redacted.
    func clean(_ text: String) -> String {
        SecretFinder(known.map { ($0.text, "***") }, wholeWordsBelow: 0).replacing(in: text)
    }
}
