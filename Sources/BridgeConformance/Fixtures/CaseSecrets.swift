internal import Foundation
internal import Model
internal import RecordBatch

/// The secrets of a case's configuration, as far as they can be read here.
struct CaseSecrets {
    private var known: [(name: String, text: String)] = []
    /// Addresses of servers that the configuration has as secrets: a replay shows them in errors, too.
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
        // Without the plugin's schema a reference inside an object is not told from one.
        case .object(let members) where members.count == 1 && members[0].key == "env":
            if let name = members[0].value.string { look(.secret(.env(name)), configuration, isAddress) }
        case .object(let members) where members.count == 1 && members[0].key == "file":
            if let path = members[0].value.string { look(.secret(.file(path)), configuration, isAddress) }
        case .object(let members): for member in members { look(member.value, configuration, isAddress) }
        case .secret(let reference):
            let environment = ProcessInfo.processInfo.environment
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

    /// What refers to the first secret that the text holds, in whatever spelling; nil for none.
    func held(by text: String) -> String? {
        SecretFinder(known.map { ($0.text, $0.name) }, wholeWordsBelow: 0).matches(in: Array(text.utf8)).first?.mark
    }

    /// The text without them.
    func clean(_ text: String) -> String {
        SecretFinder(known.map { ($0.text, "***") }, wholeWordsBelow: 0).replacing(in: text)
    }
}
