/// What a remote said about the lists of relationships: one statement for each relationship and owner.
struct RelatedList: Sendable {
    /// The total size of the statements of one result, in bytes.
    static let maxSize = 4 << 20

    private struct Place: Hashable {
        let relationship: String
        let owner: ObjectID?
    }

    /// The statements, in the order in which their lists came first.
    private(set) var statements: [FetchResult.Related] = []
    /// The total size of the statements, in bytes.
    private(set) var size = 0
    private var places: [Place: Int] = [:]

    init(_ statements: [FetchResult.Related] = []) {
        for statement in statements { add(statement) }
    }

    /// Adds a statement, in place of an earlier one about the same list.
    mutating func add(_ statement: FetchResult.Related) {
        let place = Place(relationship: statement.relationship, owner: statement.owner)
        size += statement.size
        if let known = places[place] {
            size -= statements[known].size
            statements[known] = statement
        } else {
            places[place] = statements.count
            statements.append(statement)
        }
    }

    /// Adds what the answer to a request for a list says, and keeps what it lacks of an earlier statement.
    mutating func merge(_ statement: FetchResult.Related) {
        var merged = statement
        let place = Place(relationship: statement.relationship, owner: statement.owner)
        if let known = places[place] {
            let earlier = statements[known].metadata
            merged.metadata.total = statement.metadata.total ?? earlier.total
            merged.metadata.location = statement.metadata.location ?? earlier.location
            merged.metadata.json = PageMetadata.union(of: earlier.json, and: statement.metadata.json)
        }
        add(merged)
    }
}

extension FetchResult.Related {
    fileprivate var size: Int {
        relationship.utf8.count + (metadata.json?.utf8.count ?? 0) + (metadata.location?.utf8.count ?? 0)
    }
}
