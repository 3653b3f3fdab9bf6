// Imports pages over a disk and a memory that fail: at the first operation, at the second, and so on until none is left.
//
//   FaultHost disk|full|memory once|for-good new|again|edits|answer FOLDER
//   FaultHost room FOLDER          a folder that holds too little
//
// Prints how many faults there were, and exits with 0 when after each of them the file was whole, held a page as a whole
// or not at all, and took the next import.
import FaultySQLite
import Glibc

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
    case 2: try SmallRoom(folder: arguments[1]).run()
    default:
        print("usage: FaultHost disk|full|memory once|for-good new|again|edits|answer FOLDER; FaultHost room FOLDER")
        exit(2)
    }
} catch {
    print("FaultHost: \(error)")
    exit(1)
}
