// Imports pages over a disk and a memory that fail: at the first operation, at the second, and so on until none is left.
//
//   FaultHost disk|full|memory once|for-good new|again|edits|answer FOLDER
//   FaultHost writer FILE COUNT    makes so many local edits, as one of several processes
//   FaultHost room FOLDER          a folder that holds too little
//
// Prints how many faults there were, and exits with 0 when after each of them the file was whole, held a page as a whole
// or not at all, and took the next import.
import FaultySQLite
import Glibc
import Mapping
import SQLiteStore
import StoreContract

guard faulty_install() == 0 else {
    print("SQLite takes no faulty disk")
    exit(2)
}
let arguments = Array(CommandLine.arguments.dropFirst())
do {
    switch arguments.count {
    case 4:
        guard let work = FaultLoop.Work(rawValue: arguments[2]) else { throw Violation("no work: \(arguments[2])") }
        let loop = try FaultLoop(
            fault: arguments[0], isPersistent: arguments[1] == "for-good", work: work, folder: arguments[3])
        try loop.run()
    case 3:
        // One of several writers: so many new objects, each changed once.
        let store = try SQLiteStore(path: arguments[1], model: try Scenario().model)
        for number in 0..<(Int(arguments[2]) ?? 0) {
            let made = try store.edit([LocalEdit(.create, entity: "City", values: ["name": .text("made \(number)")])])
            let name = "writer \(getpid()) \(number)"
            _ = try store.edit([LocalEdit(.update, entity: "City", key: made[0].key, values: ["name": .text(name)])])
        }
        try store.close()
        print("done")
    case 2: try SmallRoom(folder: arguments[1]).run()
    default:
        print("usage: FaultHost disk|full|memory once|for-good new|again|edits|answer FOLDER; FaultHost room FOLDER")
        exit(2)
    }
} catch {
    print("FaultHost: \(error)")
    exit(1)
}
