internal import Inference

/// The members of a reply that say how many records there are, where the section names none.
///
/// A service that cuts a list short says so there, and the reply would otherwise pass for the whole list.
struct PlainCounts: Sendable, Equatable {
    /// The paths, as those of ``SOAPPaging``; empty for none.
    private(set) var total: [String] = []
    private(set) var more: [String] = []
    private(set) var done: [String] = []

    /// Whether each of several parts of a reply has a total of its own.
    private(set) var isOfParts = false

    private typealias Names = PagingVocabulary.Elements
    /// Names that are also those of the size of a page.
    private static let vague: Set<String> = ["count", "size"]
    /// Names that may mean something else than the list.
    private static let ambiguous: Set<String> = ["complete"]
    /// Names that may belong to another object than the list.
    private static let loose: Set<String> = ["total", "matches", "more", "done", "complete", "remaining", "truncated"]

    /// Finds the members around the records, by their names and types.
    ///
    /// None for a record that is not an element of a list. In an element that repeats, and beside the path, where the
    /// members may be those of another object, only clear names count.
    init(around records: [String], of operation: WSDLOperation, _ schemas: SchemaSet) {
        guard !records.isEmpty,
            let path = try? ReplyPaths(operation, schemas).checked(records, option: "records")
        else { return }
        var found = self
        var level = operation.output.elements
        var isRepeated = false
        for (index, name) in path.enumerated() {
            let isLast = index == path.count - 1
            let element = level.first { name == "*" ? !isLast || $0.isRepeated : $0.name.local == name }
            guard let element, name != "*" || isLast || level.count == 1 else { return }
            if isLast {
                if element.isRepeated { self = found }
                return
            }
            guard case .complex(let type) = schemas[element.type] else { return }
            isRepeated = isRepeated || element.isRepeated
            let place = Array(path[...index])
            found.take(type, at: place, schemas, isClear: isRepeated, isOfParts: isRepeated)
            for child in type.children where !child.isRepeated && child.name.local != path[index + 1] {
                guard case .complex(let other) = schemas[child.type] else { continue }
                found.take(other, at: place + [child.name.local], schemas, isClear: true, isOfParts: isRepeated)
            }
            level = type.children
        }
    }

    private mutating func take(
        _ type: ComplexType, at place: [String], _ schemas: SchemaSet, isClear: Bool, isOfParts: Bool
    ) {
        let hadTotal = !total.isEmpty
        for attribute in type.attributes {
            take(attribute.name, attribute.kind, at: place + ["@" + attribute.name], isClear: isClear)
        }
        for child in type.children where !child.isRepeated {
            guard case .simple(let kind) = schemas[child.type] else { continue }
            take(child.name.local, kind, at: place + [child.name.local], isClear: isClear)
        }
        if !hadTotal, !total.isEmpty { self.isOfParts = isOfParts }
    }

    private mutating func take(_ name: String, _ kind: SimpleKind, at path: [String], isClear: Bool) {
        let plain = NameWords.plain(name)
        guard !isClear || !Self.loose.contains(plain) else { return }
        // Workday's totals are decimals; so are amounts of money.
        let isNumber = kind == .integer || kind == .decimal && !Self.loose.contains(plain)
        if isNumber, total.isEmpty, Names.totals.contains(plain), !Self.vague.contains(plain) {
            total = path
        } else if isNumber, more.isEmpty, Names.remaining.contains(plain) {
            more = path
        } else if kind == .boolean, more.isEmpty, Names.more.contains(plain) {
            more = path
        } else if kind == .boolean, done.isEmpty, Names.done.contains(plain), !Self.ambiguous.contains(plain) {
            done = path
        }
    }
}
