import Foundation
import Importer
import Mapping
import Model
import RecordBatch
import SQLiteStore

/// Pages of parents with many children each, beside the same children as flat rows.
enum Children {
    private static let parents = 200
    private static let children = 1_000

    enum Form: String, CaseIterable {
        case flat = "flat rows that refer to a parent"
        case inverse = "1,000 children per parent, held by their to-one"
        case links = "1,000 children per parent, held by a link table"
    }

    static func run(rounds: Int) throws {
        print("\n| children | cold µs/child | unchanged µs/child |")
        print("|---|---:|---:|")
        for form in Form.allCases {
            let model = try model(form)
            let batches = try batches(form)
            let entity = form == .flat ? 1 : 0
            var cold: [Double] = []
            var again: [Double] = []
            for _ in 0..<rounds {
                let folder = try Folder()
                let store = try SQLiteStore(path: folder.path + "/bmo.sqlite", model: model)
                cold.append(try importAll(batches, entity, model, store))
                again.append(try importAll(batches, entity, model, store))
                try store.close()
            }
            let count = Double(parents * children)
            func text(_ times: [Double]) -> String { String(format: "%.2f", (times.min() ?? 0) / count * 1e6) }
            print("| \(form.rawValue) | \(text(cold)) | \(text(again)) |")
        }
    }

    private static func importAll(
        _ batches: [RecordBatch], _ entity: Int, _ model: CompiledModel, _ store: SQLiteStore
    ) throws -> Double {
        let mapper = Mapper(model)
        let start = CPUClock.now
        try store.beginRun(kind: "benchmark")
        for (index, batch) in batches.enumerated() {
            let page = try PageImport(
                entity, of: model, from: PageImport.Origin(bridge: "memory", page: index + 1), into: store)
            try page.add(MappedBatch(batch, by: mapper, as: entity), location: nil)
            try page.commit(progress: nil)
        }
        try store.endRun(outcome: "finished", summary: "{}", always: false, keeping: .forever)
        return CPUClock.now - start
    }

    private static func model(_ form: Form) throws -> CompiledModel {
        let parent = Entity(
            name: "Parent", bridge: "memory", key: ["id"], attributes: [Shape.attribute("id", .integer)],
            relationships: [
                Relationship(
                    name: "children", kind: .toMany, target: "Child", inverse: form == .links ? nil : "parent")
            ])
        let child = Entity(
            name: "Child", bridge: "memory", key: ["id"],
            attributes: [Shape.attribute("id", .integer)] + (1...4).map { Shape.attribute("text\($0)", .text) },
            relationships: form == .links ? [] : [Relationship(name: "parent", kind: .toOne, target: "Parent")])
        return try CompiledModel(Model(entities: [parent, child]))
    }

    /// A page per parent.
    private static func batches(_ form: Form) throws -> [RecordBatch] {
        try (0..<parents).map { parent in
            let writer = RecordBatchWriter()
            func writeChild(_ number: Int) {
                writer.object {
                    writer.key("id")
                    writer.int64(Int64(parent * children + number))
                    for column in 1...4 {
                        writer.key("text\(column)")
                        writer.text("value \(column) of \(parent * children + number)")
                    }
                    if form == .flat {
                        writer.key("parent")
                        writer.int64(Int64(parent))
                    }
                }
            }
            if form == .flat {
                for number in 0..<children { writeChild(number) }
            } else {
                writer.object {
                    writer.key("id")
                    writer.int64(Int64(parent))
                    writer.key("children")
                    writer.array { for number in 0..<children { writeChild(number) } }
                }
            }
            return try writer.finish()
        }
    }
}
