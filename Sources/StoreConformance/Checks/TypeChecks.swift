internal import Mapping
internal import Model
internal import StoreContract

extension StoreCheck {
    /// The types of values on every way in and out.
    static let types = [
        StoreCheck("rows-keep-their-types", rowsKeepTheirTypes),
        StoreCheck("queries-take-typed-values", queriesTakeTypedValues),
        StoreCheck("the-history-keeps-types", theHistoryKeepsTypes),
        StoreCheck("the-outbox-keeps-types", theOutboxKeepsTypes),
        StoreCheck("conflicts-keep-types", conflictsKeepTypes),
        StoreCheck("partial-records-keep-extra-members", partialRecordsKeepExtraMembers),
    ]

    private static let extra = StoredValue.json("{\"more\":1.0}")

    /// Imports the object with the first or the second value of each type, and links to the objects with that key.
    private static func write(_ sample: KeyPath<TypeModel.Sample, StoredValue>, in session: StoreSession) throws {
        try session.page { page in
            var row: StoreSession.Values = ["id": TypeModel.key, Entity.extraColumn: extra]
            for type in TypeModel.samples { row[type.column] = type[keyPath: sample] }
            for (index, key) in TypeModel.keys.enumerated() {
                try page.merge(TypeModel.entity(ofKey: index), ["id": key[keyPath: sample]])
                row[key.toOne] = key[keyPath: sample]
            }
            try page.merge(TypeModel.thing, row)
            for key in TypeModel.keys {
                _ = try page.mergeLinks(TypeModel.thing, key.toMany, of: TypeModel.key, [key[keyPath: sample]])
            }
        }
    }

    /// Checks values and their types: equality ignores the type.
    private static func expectTyped(_ what: String, _ found: [StoredValue?], _ expected: [StoredValue?]) throws {
        func text(_ value: StoredValue?) -> String { value.map { "\($0.kind) \($0)" } ?? "none" }
        try expect(what, found.map(text), expected.map(text))
    }

    /// Checks the values of the object's row, in the order of its columns.
    private static func expectRow(
        _ what: String, _ values: [StoredValue], _ sample: KeyPath<TypeModel.Sample, StoredValue>,
        in session: StoreSession
    ) throws {
        let expected: [StoredValue] = session.model.entities[TypeModel.thing].columns.map { column in
            switch column.name {
            case "id": TypeModel.key
            case Entity.extraColumn: extra
            default:
                TypeModel.samples.first { [$0.column, $0.toOne].contains(column.name) }?[keyPath: sample] ?? .null
            }
        }
        try expectTyped(what, values, expected)
    }

    private static func rowsKeepTheirTypes(_ subject: StoreSubject) throws {
        let session = try subject.open(try TypeModel.compiled())
        for sample in [\TypeModel.Sample.first, \.second] {
            try write(sample, in: session)
            try session.store.rows(of: RowQuery("Thing")) { row in
                try expectRow("a row in key order", row.values, sample, in: session)
            }
            let query = try required("a row", try session.store.rows(of: RowQuery("Thing")).first)
            try expectRow("a row of a query", query.values, sample, in: session)
            try expectTyped("the key of a row of a query", query.key, [TypeModel.key])
            let found = try session.store.rows(of: TypeModel.thing, keys: [[TypeModel.key]])
            try expectRow("a row found by key", try required("a row", found.first).values, sample, in: session)
            for (index, key) in TypeModel.keys.enumerated() {
                let value = key[keyPath: sample]
                let rows = try session.store.rows(of: TypeModel.entity(ofKey: index), keys: [[value]])
                try expectTyped("the key of type \(key.type)", rows.flatMap(\.key), [value])
                try expectTyped("the list of keys of type \(key.type)", try list(key, in: session), [value])
            }
            let history = try session.store.history(of: TypeModel.thing, key: [TypeModel.key])
            try expectRow("the row of a history", try required("a row", history.values), sample, in: session)
        }
        let extra = try session.store.extraValues(of: session.model.entities[TypeModel.thing], limit: 10)
        try expect("the types of extra values", extra.map { "\($0.name) \($0.type)" }, ["more real"])
    }

    /// The targets of the list of objects with a key of a type.
    private static func list(_ key: TypeModel.Sample, in session: StoreSession) throws -> [StoredValue] {
        let lists = session.model.entities[TypeModel.thing].toMany
        let index = try required(key.toMany, lists.firstIndex { $0.name == key.toMany })
        let links = try session.store.links(of: TypeModel.thing, index, owners: [[TypeModel.key]])
        return links[[TypeModel.key]]?.flatMap { $0 } ?? []
    }

    private static func queriesTakeTypedValues(_ subject: StoreSubject) throws {
        let session = try subject.open(try TypeModel.compiled())
        try write(\.first, in: session)
        for sample in TypeModel.samples {
            let cases: [(String, RowPredicate, Int)] = [
                ("=", .compare(sample.column, .equal, sample.first), 1),
                ("= another value", .compare(sample.column, .equal, sample.second), 0),
                ("in", .isIn(sample.column, [sample.second, sample.first]), 1),
                (">=", .compare(sample.column, .atLeast, sample.first), 1),
                ("<", .compare(sample.column, .less, sample.first), 0),
            ]
            var query = RowQuery("Thing")
            for (what, predicate, count) in cases {
                query.predicate = predicate
                try expect("the rows whose \(sample.type) is \(what)", try session.store.count(of: query), count)
            }
            query = RowQuery("Thing", order: [RowQuery.Order(sample.column)])
            query.after = try required("a row in order of \(sample.type)", try session.store.rows(of: query).first)
            try expect("the rows after it", try session.store.rows(of: query).count, 0)
        }
    }

    private static func theHistoryKeepsTypes(_ subject: StoreSubject) throws {
        let session = try subject.open(try TypeModel.compiled())
        try session.run { try write(\.first, in: session) }
        let run = try required("the run", try session.run { try write(\.second, in: session) })
        var change: RowChange?
        try session.store.changes(of: run, entity: "Thing") { change = $0 }
        let thing = try required("the change of the row", change)
        try expectTyped("the key of a change", thing.key, [TypeModel.key])
        for sample in TypeModel.samples {
            let column = try required(sample.column, thing.columns.first { $0.name == sample.column })
            try expectTyped(
                "a change of type \(sample.type)", [column.old, column.new], [sample.first, sample.second])
        }
        for key in TypeModel.keys {
            let links = try required(key.toMany, thing.links.first { $0.relationship == key.toMany })
            try expectTyped("a change of links of type \(key.type)", links.old.flatMap { $0 }, [key.first])
            try expectTyped("the new links of type \(key.type)", links.new.flatMap { $0 }, [key.second])
        }
        _ = try session.store.undo(run: run)
        let row = try required("the row", try session.store.rows(of: RowQuery("Thing")).first)
        try expectRow("the row after an undo", row.values, \.first, in: session)
        for key in TypeModel.keys {
            try expectTyped("the links of type \(key.type) after it", try list(key, in: session), [key.first])
        }
    }

    private static func theOutboxKeepsTypes(_ subject: StoreSubject) throws {
        let session = try subject.open(try TypeModel.compiled())
        try write(\.first, in: session)
        for (index, key) in TypeModel.keys.enumerated() {
            try session.add(TypeModel.entity(ofKey: index), ["id": key.second])
        }
        var values: StoreSession.Values = [:]
        for sample in TypeModel.samples { values[sample.column] = sample.second }
        try session.edit(
            .update, "Thing", [TypeModel.key], values,
            links: Dictionary(uniqueKeysWithValues: TypeModel.keys.map { ($0.toMany, [[$0.second]]) }))
        let entry = try session.lastEntry()
        try expectTyped("the key of an entry", entry.key, [TypeModel.key])
        for sample in TypeModel.samples {
            let edit = try required(sample.column, entry.changes.first { $0.name == sample.column })
            try expectTyped("an edit of type \(sample.type)", [edit.old, edit.new], [sample.first, sample.second])
        }
        for key in TypeModel.keys {
            let edit = try required(key.toMany, entry.links.first { $0.relationship == key.toMany })
            try expectTyped(
                "an edit of links of type \(key.type)", (edit.old + edit.new).flatMap { $0 }, [key.first, key.second])
            try session.edit(.update, key.entity, [key.second], ["name": .text("x")])
            try expectTyped("the key of an entry of type \(key.type)", try session.lastEntry().key, [key.second])
        }
        try session.store.dropOutbox([entry.id])
        let row = try required("the row", try session.store.rows(of: RowQuery("Thing")).first)
        try expectRow("the row after a drop", row.values, \.first, in: session)
    }

    private static func conflictsKeepTypes(_ subject: StoreSubject) throws {
        let session = try subject.open(try TypeModel.compiled())
        var row: StoreSession.Values = ["id": TypeModel.key]
        try session.add(TypeModel.thing, row)
        for sample in TypeModel.samples { row[sample.column] = sample.first }
        try session.edit(.update, "Thing", [TypeModel.key], row.filter { $0.key != "id" })
        for sample in TypeModel.samples { row[sample.column] = sample.second }
        try session.add(TypeModel.thing, row)
        let conflicts = try session.store.conflicts()
        for sample in TypeModel.samples {
            let conflict = try required(sample.column, conflicts.first { $0.column == sample.column })
            try expectTyped("the key of a conflict", conflict.key, [TypeModel.key])
            try expectTyped(
                "a conflict of type \(sample.type)", [conflict.base, conflict.local, conflict.remote],
                [.null, sample.first, sample.second])
        }
        try session.store.resolve(entity: "Thing", key: [TypeModel.key], take: .remote)
        let found = try required("the row", try session.store.rows(of: RowQuery("Thing")).first)
        let names = session.model.entities[TypeModel.thing].columns.map(\.name)
        for (name, value) in zip(names, found.values) where row[name] != nil {
            try expectTyped("the remote's \(name)", [value], [row[name]])
        }
    }

    private static func partialRecordsKeepExtraMembers(_ subject: StoreSubject) throws {
        let session = try subject.open(try TypeModel.compiled())
        func merge(_ members: String) throws -> MergeOutcome? {
            var outcome: MergeOutcome?
            try session.run {
                try session.page { page in
                    outcome = try page.mergePart(
                        TypeModel.thing, ["id": TypeModel.key, Entity.extraColumn: .json(members)])
                }
            }
            return outcome
        }
        func stored() throws -> String? {
            let layout = session.model.entities[TypeModel.thing]
            let place = try required("the column", layout.columns.firstIndex { $0.name == Entity.extraColumn })
            return try session.store.rows(of: RowQuery("Thing")).first?.values[place].description
        }
        try expect("a part of a new object", try merge(#"{"a":1,"b":"x"}"#), .inserted)
        try expect("its members", try stored(), #"{"a":1,"b":"x"}"#)
        try expect("other members", try merge(#"{"b":null,"c":[2]}"#), .updated)
        try expect("the members of both", try stored(), #"{"a":1,"b":null,"c":[2]}"#)
        try expect("known members", try merge(#"{"c":[2],"a":1}"#), .unchanged)
        try session.edit(.delete, "Thing", [TypeModel.key])
        try expect("a part of a deleted object", try merge(#"{"a":1}"#), .unchanged)
        try expect("its conflicts", try session.store.conflicts().count, 0)
        _ = try merge(#"{"a":2}"#)
        try session.store.dropOutbox([try session.lastEntry().id])
        try expect("the members after the drop", try stored(), #"{"a":2,"b":null,"c":[2]}"#)
        try session.page {
            try $0.merge(TypeModel.thing, ["id": TypeModel.key, Entity.extraColumn: .json(#"{"d":4}"#)])
        }
        try expect("the members of a whole record", try stored(), #"{"d":4}"#)
    }
}
