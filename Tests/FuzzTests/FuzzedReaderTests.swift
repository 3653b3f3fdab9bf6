import Foundation
import RecordBatch
import TestSupport
import Testing

/// What `Scripts/fuzz` found worth keeping, each that ever crashed a reader, and mutations of them that are the same each time.
@Suite struct FuzzedReaderTests {
    @Test(arguments: FuzzedReader.allCases)
    func `no input of the corpus crashes its reader, nor do mutations of it`(reader: FuzzedReader) throws {
        let folder = PackageFolder.path + "/Fixtures/fuzz/" + reader.rawValue
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        let inputs = try names.map { [UInt8](try Data(contentsOf: URL(filePath: folder + "/" + $0))) }
        #expect(inputs.count { reader.read($0) } >= 3, "some are taken, so that more than refusals are tried")
        var random = SplitMix64(seed: 15)
        for input in inputs {
            for _ in 0..<20 { reader.read(Self.mutated(input, &random)) }
        }
    }

    /// A copy with some bytes changed, left out or doubled.
    private static func mutated(_ input: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        var bytes = input
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let place = bytes.indices.randomElement(using: &random) ?? 0
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
            case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...8, using: &random)))
            default:
                let end = min(bytes.count, place + Int.random(in: 1...32, using: &random))
                bytes.insert(contentsOf: Array(bytes[place..<end]), at: place)
            }
        }
        return bytes
    }
}
