internal import BridgeKit
internal import Inference

/// Guesses how an operation pages, from the names of its request's and reply's elements.
struct OperationPaging {
    /// The section's `paging`; nil if no element suggests paging.
    private(set) var rule: [(String, Rule)]?
    private(set) var reason = EntityDescription.Confidence.medium(
        "no element looks like paging: one reply holds all")
    /// The request's elements that paging sets.
    private(set) var elements: Set<String> = []

    enum Rule {
        case text(String)
        case number(Int)
    }

    init(_ operation: WSDLOperation, _ records: [String], _ schemas: SchemaSet) {
        let takes = Self.leaves(operation.input.elements, schemas, isInput: true)
        let gives = Self.leaves(operation.output.elements, schemas, isInput: false)
        func find(_ names: [String], _ leaves: [[String]]) -> [String]? {
            names.lazy.compactMap { name in leaves.first { NameWords.plain($0.last ?? "") == name } }.first
        }
        typealias Names = PagingVocabulary.Elements
        func text(_ path: [String]) -> Rule { .text(path.joined(separator: "/")) }
        let size = find(Names.sizes, takes)
        let total = find(Names.totals, gives)
        let more = find(Names.more, gives)
        let done = find(Names.done, gives)
        var members: [(String, Rule)]
        if let token = find(Names.tokens, takes),
            let next = find(Names.nextTokens, gives)
        {
            members = [("style", .text("token")), ("token_element", text(token)), ("token", text(next))]
            if let size { members.append(("limit_element", text(size))) }
            elements = Set([token, size].compactMap { $0?.last })
            reason = .medium("\(next.last ?? "") of the reply goes into \(token.last ?? "")")
        } else if let page = find(Names.pages, takes) {
            members = [("style", .text("page")), ("page_element", text(page))]
            if let size { members.append(("size_element", text(size))) }
            elements = Set([page, size].compactMap { $0?.last })
            reason = .medium("the request takes \(page.last ?? "")")
        } else if let offset = find(Names.offsets, takes), size != nil {
            members = [("style", .text("offset")), ("offset_element", text(offset))]
            if let size { members.append(("limit_element", text(size))) }
            elements = Set([offset, size].compactMap { $0?.last })
            reason = .high("the request takes \(offset.last ?? "") and \(size?.last ?? "")")
        } else {
            return
        }
        if size != nil { members.append(("size", .number(100))) }
        if let total { members.append(("total", text(total))) }
        if let more { members.append(("more", text(more))) } else if let done { members.append(("done", text(done))) }
        rule = members
    }

    /// Returns the paths of plain values outside repeated elements.
    ///
    /// Paths of a request omit its only wrapper; paths of a reply begin with the body's element.
    private static func leaves(_ elements: [SchemaElement], _ schemas: SchemaSet, isInput: Bool) -> [[String]] {
        var found: [[String]] = []
        // The depth at which all of a type was visited: deeper down, it has no other names, and the first one counts.
        var visited: [TypeID: Int] = [:]
        func visit(_ element: SchemaElement, _ path: [String], _ depth: Int) {
            guard !element.isRepeated, depth < 4 else { return }
            switch schemas[element.type] {
            case .complex(let type):
                guard depth < visited[element.type] ?? .max else { return }
                for child in type.children { visit(child, path + [child.name.local], depth + 1) }
                visited[element.type] = depth
            default: if !path.isEmpty { found.append(path) }
            }
        }
        for element in elements {
            visit(element, isInput && elements.count == 1 ? [] : [element.name.local], 0)
        }
        return found
    }
}
