internal import Mapping
internal import Model

extension Workspace {
    /// Returns the faults of a model that names code which the program does not have.
    static func missingCode(_ model: Model, _ code: CustomCode) -> [Diagnostic] {
        let names = code.names
        var faults = code.duplicates.sorted().map { name in
            Diagnostic(
                location: .unknown, message: "two pieces of the program's code have the name \"\(name)\"",
                remedy: "give each a name of its own")
        }
        func check(_ name: String, _ known: Set<String>, _ what: String, _ location: SourceLocation) {
            guard !known.contains(name) else { return }
            let others = known.isEmpty ? "" : "; it has: \(known.sorted().joined(separator: ", "))"
            faults.append(
                Diagnostic(
                    location: location, message: "\(what): this program has no code \"\(name)\"\(others)",
                    remedy: "the program that uses this configuration gives the code to its manager"))
        }
        for entity in model.entities {
            for case .code(let name) in entity.matcher?.conditions ?? [] {
                check(name, names.matchers, "\"when\" of \(entity.name)", entity.location)
            }
            for attribute in entity.attributes + entity.sources.flatMap(\.attributes) {
                let what = "of \(entity.name).\(attribute.name)"
                for case .code(let name) in attribute.transformers {
                    check(name, names.transformers, "\"transform\" \(what)", attribute.location)
                }
                if let name = attribute.merge { check(name, names.merges, "\"merge\" \(what)", attribute.location) }
            }
        }
        let deletes = model.entities.filter { entity in
            entity.deletes.tombstone?.conditions.contains { if case .code = $0 { true } else { false } } ?? false
        }
        faults += deletes.map { entity in
            Diagnostic(
                location: entity.location, message: "\"deletes\" of \(entity.name) names code in \"when\"",
                remedy: "code recognises sub-entities only: use another condition")
        }
        return faults
    }
}
