import Foundation
import RecordBatch
import TestSupport
import Testing

/// The inputs that `Scripts/fuzz` found worth keeping, and each that ever crashed it, through the same readers.
@Suite struct FuzzCorpusTests {
    @Test func `every batch of the corpus is refused or read to its last byte`() throws {
        var taken = 0
        for input in try inputs("batch") {
            do {
                let batch = try input.withUnsafeBytes { try RecordBatch(copying: $0) }
                let writer = RecordBatchWriter()
                for index in 0..<batch.count {
                    _ = batch.json(index)
                    writer.copy(batch[index])
                }
                withExtendedLifetime(batch) {}
                #expect(try writer.finish().count == batch.count)
                taken += 1
            } catch is RecordBatchError {}
        }
        #expect(taken > 10)
    }

    @Test func `every JSON text of the corpus is refused or means the same when written again`() throws {
        var taken = 0
        for input in try inputs("json") {
            guard let batch = try? JSONParser.batch(String(decoding: input, as: UTF8.self)) else { continue }
            let once = batch.json(0)
            #expect(try JSONParser.batch(once).json(0) == once)
            taken += 1
        }
        #expect(taken > 10)
    }

    private func inputs(_ target: String) throws -> [Data] {
        let folder = PackageFolder.path + "/Fixtures/fuzz/" + target
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        return try names.sorted().map { try Data(contentsOf: URL(filePath: folder + "/" + $0)) }
    }
}
