import Foundation
import ImportTestSupport
import Importer
import StoreContract
import SQLiteStore

/// A folder on a file system that is full before the import is done, and has room again later.
struct SmallRoom {
    let folder: String
    private let scenario: Scenario

    init(folder: String) throws {
        self.folder = folder
        scenario = try Scenario()
    }

    func run() throws {
        let path = folder + "/bmo.sqlite"
        let ballast = folder + "/ballast"
        let store = try SQLiteStore(path: path, model: scenario.model)
        var done = 0
        var failures = 0
        // Somebody else takes what room there is, and gives it back when that has shown.
        while done < 12 {
            if done == 3, failures == 0 { Self.fill(ballast) }
            do {
                try scenario.add(done + 1, to: store)
                done += 1
            } catch let error as StoreError {
                guard error.code == .io, error.message.hasPrefix("no space left for the database") else {
                    throw Violation("a full disk is told as \(error)")
                }
                failures += 1
                guard failures < 3 else { throw Violation("there is room again, and still: \(error)") }
                let faults = try scenario.faults(of: path)
                guard faults.isEmpty else { throw Violation(faults.joined(separator: "; ")) }
                guard failures == 2 else { continue }
                try FileManager.default.removeItem(atPath: ballast)
            }
        }
        try store.close()
        let clean = NSTemporaryDirectory() + "/clean-\(getpid()).sqlite"
        defer { try? FileManager.default.removeItem(atPath: clean) }
        let other = try SQLiteStore(path: clean, model: scenario.model)
        for number in 1...done { try scenario.add(number, to: other) }
        try other.close()
        guard try scenario.contents(of: path) == scenario.contents(of: clean), try scenario.faults(of: path).isEmpty
        else {
            throw Violation("the file differs from that of a disk with room")
        }
        print("\(failures) faults")
    }

    private static func fill(_ path: String) {
        guard let file = fopen(path, "w") else { return }
        defer { fclose(file) }
        setbuf(file, nil)
        for size in [65536, 4096, 512, 1] {
            let bytes = [UInt8](repeating: 0, count: size)
            while fwrite(bytes, 1, size, file) == size {}
        }
    }
}
