internal import Inference

/// The members of a reply that say how many records there are, where the section names none.
///
/// A service that cuts a list short says so there, and the reply would otherwise pass for the whole list.
struct PlainCounts: Sendable, Equatable {
    /// The paths, as those of ``SOAPPaging``; empty for none.
    private(set) var total: [String] = []
    private(set) var more: [String] = []
    private(set) var done: [String] = []

    /// Names that are also those of the size of a page.
    private static let vague: Set<String> = ["count", "size"]
    /// Names that may mean something else than the list.
    private static let ambiguous: Set<String> = ["complete"]

    /// Finds the members around the records, by their names and types.
    ///
    /// None for a record that is not an element of a list, and for several lists, because each has counts of its own.
    init(around records: [String], of operation: WSDLOperation, _ schemas: SchemaSet) {
        guard !records.isEmpty,
            let path = try? ReplyPaths(operation, schemas).checked(records, option: "records")
        else { return }
        var found = self
        var level = operation.output.elements
        for (index, name) in path.enumerated() {
            guard let element = level.first(where: { $0.name.local == name }) else { return }
            if index == path.count - 1 {
                if element.isRepeated { self = found }
                return
            }
            guard !element.isRepeated, case .complex(let type) = schemas[element.type] else { return }
            let place = Array(path[...index])
            for attribute in type.attributes {
                found.take(attribute.name, attribute.kind, at: place + ["@" + attribute.name])
            }
            for child in type.children where !child.isRepeated {
                guard case .simple(let kind) = schemas[child.type] else { continue }
                found.take(child.name.local, kind, at: place + [child.name.local])
            }
            level = type.children
        }
    }

    private mutating func take(_ name: String, _ kind: SimpleKind, at path: [String]) {
        let plain = NameWords.plain(name)
        typealias Names = PagingVocabulary.Elements
        switch kind {
        case .integer where total.isEmpty && Names.totals.contains(plain) && !Self.vague.contains(plain): total = path
        case .boolean where more.isEmpty && Names.more.contains(plain): more = path
        case .boolean where done.isEmpty && Names.done.contains(plain) && !Self.ambiguous.contains(plain): done = path
        default: break
        }
    }
}
