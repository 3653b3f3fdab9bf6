import Foundation
import Importer
import Mapping
import Model
import SQLiteStore

/// What importing many records costs in memory: it must not depend on how many there are.
enum Memory {
    static func run(records: Int) throws {
        let model = try CompiledModel(Model(entities: [Shape.users.entity]))
        let folder = try Folder()
        let before = try peak()
        let store = try SQLiteStore(path: folder.path + "/bmo.sqlite", model: model)
        let mapper = Mapper(model)
        let start = ContinuousClock.now
        for first in stride(from: 0, to: records, by: Comparison.page) {
            let page = try PageImport(
                0, of: model, from: PageImport.Origin(bridge: "memory", page: first / Comparison.page + 1),
                into: store)
            let batch = try Shape.users.batch(first..<min(records, first + Comparison.page))
            try page.add(MappedBatch(batch, by: mapper, as: 0), location: nil)
            try page.commit(progress: ScanProgress(cursor: "\(first)", page: first / Comparison.page, request: "r"))
        }
        let after = try peak()
        try store.close()
        let size = (try FileManager.default.attributesOfItem(atPath: folder.path + "/bmo.sqlite")[.size] as? Int) ?? 0
        print(
            "\(records) records in \((ContinuousClock.now - start).components.seconds) s, \(size >> 20) MiB of database: "
                + "\((after - before) / 1024) MiB over the empty process (\(before / 1024) MiB)")
    }

    /// The most memory that the process ever had, in KiB (proc(5): VmHWM).
    private static func peak() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }
}
