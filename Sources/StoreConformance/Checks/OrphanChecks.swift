internal import Mapping
internal import Model
internal import StoreContract

extension StoreCheck {
    /// What happens to the objects in the lists of a deleted object.
    static let orphans = [
        StoreCheck("what-a-deleted-object-owned-is-deleted", whatADeletedObjectOwnedIsDeleted),
        StoreCheck("an-owner-that-returns-keeps-its-objects", anOwnerThatReturnsKeepsItsObjects),
        StoreCheck("an-object-of-its-own-listing-is-no-orphan", anObjectOfItsOwnListingIsNoOrphan),
    ]

    private static let order = 0
    private static let line = 1
    private static let part = 2
    private static let tag = 3
    private static let scope = ScanScope(entity: "Order")

    /// Orders with lines, lines with parts, and tags that orders share.
    ///
    /// - Parameter scanned: The entities that have a listing of their own.
    private static func model(scanned: Set<String> = ["Order"]) throws -> CompiledModel {
        func owned(_ name: String, _ target: String, inverse: String?) -> Relationship {
            var relationship = Relationship(name: name, kind: .toMany, target: target, inverse: inverse)
            relationship.orphans = .delete
            return relationship
        }
        func entity(_ name: String, _ relationships: [Relationship]) -> Entity {
            var entity = Entity(
                name: name, bridge: "remote", key: ["id"], attributes: [Attribute(name: "id", type: .integer)],
                relationships: relationships)
            entity.isScanned = scanned.contains(name)
            return entity
        }
        return try CompiledModel(
            Model(entities: [
                entity("Order", [owned("lines", "Line", inverse: "order"), owned("tags", "Tag", inverse: nil)]),
                entity(
                    "Line",
                    [
                        owned("parts", "Part", inverse: "line"),
                        Relationship(name: "order", kind: .toOne, target: "Order"),
                    ]),
                entity("Part", [Relationship(name: "line", kind: .toOne, target: "Line")]),
                entity("Tag", []),
            ]))
    }

    private static func contents(_ session: StoreSession) throws -> [String] {
        try [order, line, part, tag].flatMap { entity in
            try session.rows(entity).map { "\(session.model.entities[entity].name) \($0)" }
        } + ["tags of 1: \(try session.list(order, "tags", of: .integer(1)))"]
    }

    /// Imports a page of the scan of orders.
    private static func page(_ session: StoreSession, _ body: (PageSession) throws -> Void) throws {
        try session.page { page in
            try page.transaction.setSource(PageSource(bridge: "remote", scan: "Order", location: nil))
            try page.transaction.follow(ScanTarget(scope: scope, entity: order))
            try body(page)
        }
    }

    private static func scan(
        _ session: StoreSession, _ ids: [Int64], before: ((PageSession) throws -> Void)? = nil
    ) throws -> SweepResult {
        try session.store.beginScan(scope, afterPage: nil)
        defer { session.store.endScan(scope) }
        if let before { try page(session, before) }
        var result = SweepResult()
        try page(session) { page in
            for id in ids { try page.merge(order, ["id": .integer(id)]) }
            result = try page.transaction.finish(ScanEnd(sweep: SweepRule(deletionLimit: nil)))
            try page.transaction.saveProgress(scope, progress: nil)
        }
        return result
    }

    private static func fill(_ session: StoreSession) throws {
        try session.page { page in
            try page.transaction.setSource(PageSource(bridge: "remote", scan: "Order", location: nil))
            for id: Int64 in 1...2 { try page.merge(order, ["id": .integer(id)]) }
            for (id, owner) in [(10, 1), (11, 1), (20, 2)] as [(Int64, Int64)] {
                try page.merge(line, ["id": .integer(id), "order": .integer(owner)], as: .nested)
            }
            try page.merge(part, ["id": .integer(100), "line": .integer(10)], as: .nested)
            for id: Int64 in 1...2 { try page.merge(tag, ["id": .integer(id)], as: .nested) }
            _ = try page.mergeLinks(order, "tags", of: .integer(1), [.integer(1), .integer(2)])
            _ = try page.mergeLinks(order, "tags", of: .integer(2), [.integer(2)])
        }
    }

    private static func whatADeletedObjectOwnedIsDeleted(_ subject: StoreSubject) throws {
        let session = try subject.open(try model())
        try session.run { try fill(session) }
        let before = try contents(session)
        var result = SweepResult()
        let run = try session.run { result = try scan(session, [2]) }
        try expect("the number of deleted rows", result.deleted, [order: 1, line: 2, part: 1, tag: 1])
        try expect(
            "the rows, without those that only the deleted object owned", try contents(session),
            ["Order 2", "Line 20 2", "Tag 2", "tags of 1: []"])
        _ = try session.store.undo(run: try required("the run", run))
        try expect("the rows after an undo", try contents(session), before)
    }

    private static func anOwnerThatReturnsKeepsItsObjects(_ subject: StoreSubject) throws {
        let session = try subject.open(try model())
        try fill(session)
        let result = try scan(session, [1, 2]) { page in
            try expect("the number of deleted rows", try page.delete(order, .integer(1)), [order: 1])
        }
        // Its lines say that they are in its list; its tags are in no list.
        try expect("the number of rows deleted at the end", result.deleted, [tag: 1])
        try expect(
            "the rows", try contents(session),
            ["Order 1", "Order 2", "Line 10 1", "Line 11 1", "Line 20 2", "Part 100 10", "Tag 2", "tags of 1: []"])
    }

    private static func anObjectOfItsOwnListingIsNoOrphan(_ subject: StoreSubject) throws {
        let session = try subject.open(try model(scanned: ["Order", "Tag"]))
        try fill(session)
        try session.page { page in
            try page.transaction.setSource(PageSource(bridge: "remote", scan: "Tag", location: nil))
            try page.transaction.follow(ScanTarget(scope: ScanScope(entity: "Tag"), entity: tag))
            try page.merge(tag, ["id": .integer(1)])
        }
        let result = try scan(session, [1, 2]) { page in
            for id: Int64 in 1...2 { _ = try page.mergeLinks(order, "tags", of: .integer(id), []) }
        }
        try expect("the number of deleted rows", result.deleted, [tag: 1])
        try expect("the tags of a listing of their own", try session.rows(tag), ["1"])
    }
}
