internal import BridgeKit
internal import Inference

/// Finds the key among a record's members.
extension ServiceReader {
    /// Chooses the key by common names of keys, and by the arguments of operations that read or delete one object.
    func key(_ offer: inout ServiceOffer, _ best: Candidate) {
        let names = offer.fields.filter { ["integer", "text", "decimal"].contains($0.type) }.map { $0.path[0] }
        func find(_ wanted: [String]) -> String? {
            wanted.lazy.compactMap { want in names.first { NameWords.plain($0) == want } }.first
        }
        func set(_ name: String, _ confidence: EntityDescription.Confidence) {
            offer.key = name
            offer.keyConfidence = confidence
        }
        if let name = find(KeyVocabulary.certain.names(.element)) { return set(name, .high("named \(name)")) }
        let subjects = subjects(of: offer.name, best)
        let endings = KeyVocabulary.endings.names(.element)
        if let name = find(endings.flatMap { ending in subjects.map { $0 + ending } }) {
            return set(name, .high("named after the entity"))
        }
        if let (name, operation) = taken(names, subjects, best) { return set(name, .high("\(operation) takes it")) }
        if let name = find(KeyVocabulary.likely.names(.element)) { return set(name, .medium("named \(name)")) }
        let lastWords = KeyVocabulary.lastWords.names(.element)
        let alike = names.filter { lastWords.contains(NameWords.lower($0).last ?? "") }
        if let first = alike.first {
            return set(
                first,
                alike.count == 1
                    ? .medium("named like a key") : .low("the first of \(alike.count) named like a key"))
        }
        if let name = find(KeyVocabulary.fallback.names(.element)) {
            return set(name, .low("no better element than \(name)"))
        }
        offer.obstacles.append("no element looks like a key: name one under key")
        offer.keyConfidence = .low("no element looks like a key")
    }

    /// Returns the member that is the only argument of an operation that reads or deletes one object.
    private func taken(_ names: [String], _ subjects: [String], _ best: Candidate) -> (String, String)? {
        let singulars = subjects.map(NameWords.singular)
        for (_, operation) in related(to: best.record.type, subjects, singulars: singulars)
        where operation.problem == nil && operation.name != best.operation.name {
            let inputs = arguments(of: operation)
            guard inputs.count == 1 else { continue }
            let split = split(operation)
            guard
                single(operation, best.record.type) != nil
                    || ([.reads, .deletes].contains(split.verb) && isSame(split, subjects, singulars: singulars))
            else { continue }
            let input = NameWords.plain(inputs[0].name.local)
            let wanted = [input, NameWords.singular(input)]
            let found = names.first { name in
                let plain = NameWords.plain(name)
                return wanted.contains(plain) || subjects.contains { wanted.contains($0 + plain) }
            }
            if let found { return (found, operation.name) }
        }
        return nil
    }

    /// Returns the possible names of an entity in the names of operations and elements.
    func subjects(of name: String, _ best: Candidate) -> [String] {
        let type = schemas.namesOfTypes[best.record.type]?.local ?? ""
        let all = [name, type, NameWords.withoutTypeMarks(type), best.record.name.local].map(NameWords.plain)
        return all.enumerated().filter { !$1.isEmpty && !all[..<$0].contains($1) }.map(\.element)
    }

    /// Returns whether an operation's name has one of these subjects, in the singular or the plural.
    ///
    /// - Parameter singulars: The subjects in the singular, which a caller forms once for all operations.
    func isSame(_ split: OperationVerb.Split, _ subjects: [String], singulars: [String]) -> Bool {
        !split.joined.isEmpty && (subjects.contains(split.joined) || singulars.contains(split.singular))
    }
}
