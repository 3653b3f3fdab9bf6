import FaultySQLite
import Foundation
import ImportTestSupport
import Importer
import StoreContract
import SQLiteStore

/// Runs the same work again and again, each time with a later fault, until one runs to its end without any.
struct FaultLoop {
    private let scenario: Scenario
    private let fault: String
    private let isPersistent: Bool
    private let folder: String
    /// The file to begin with; nil begins without one.
    private let template: String?
    private let work: Work
    /// Up to which operation or allocation each one fails; after that every seventh does.
    private let every: Int
    private let before: [String]
    private let after: [String]

    private var path: String { folder + "/bmo.sqlite" }

    /// What is done.
    enum Work: String {
        /// The first page, into a file that is not there yet.
        case new
        /// A page into a file that has one.
        case again
        /// Local edits.
        case edits
        /// The remote's answer to one of them.
        case answer
    }

    init(fault: String, isPersistent: Bool, work: Work, folder: String) throws {
        // There are many more allocations than operations of the disk.
        scenario = try Scenario(size: fault == "memory" ? 4 : 20)
        self.fault = fault
        self.isPersistent = isPersistent
        self.folder = folder
        self.work = work
        let isWhole = ProcessInfo.processInfo.environment["BMO_TEST_ALL_FAULTS"] != nil
        every = fault == "memory" && !isWhole ? 100 : .max
        let clean = folder + "/clean.sqlite"
        var store = try SQLiteStore(path: clean, model: scenario.model)
        if work == .new {
            template = nil
            before = []
        } else {
            try scenario.add(1, to: store)
            if work == .answer { try scenario.edit(store) }
            try store.close()
            template = folder + "/template.sqlite"
            try FileManager.default.copyItem(atPath: clean, toPath: folder + "/template.sqlite")
            before = try scenario.contents(of: clean)
            store = try SQLiteStore(path: clean, model: scenario.model)
        }
        try Self.run(work, scenario, store)
        try store.close()
        after = try scenario.contents(of: clean)
    }

    private static func run(_ work: Work, _ scenario: Scenario, _ store: SQLiteStore) throws {
        switch work {
        case .new: try scenario.add(1, to: store)
        case .again: try scenario.add(2, to: store)
        case .edits: try scenario.edit(store)
        case .answer: try scenario.answer(to: store)
        }
    }

    func run() throws {
        var faults = 0
        var failures: [String: Int] = [:]
        var nth = 0
        while true {
            // Of the many allocations, all of the first and then one of ever more: a prime's distance meets all kinds.
            nth += nth < every ? 1 : work == .new || work == .again ? 7 : 61
            guard let failure = try attempt(nth) else { break }
            faults += 1
            failures[failure, default: 0] += 1
        }
        print("\(faults) faults")
        for (failure, count) in failures.sorted(by: { $0.key < $1.key }) { print("\(count) x \(failure)") }
    }

    /// Returns how the import ended, or nil when nothing failed any more.
    private func attempt(_ nth: Int) throws -> String? {
        for name in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: path + name) }
        if let template { try FileManager.default.copyItem(atPath: template, toPath: path) }
        var store: SQLiteStore?
        var outcome = "survived"
        // GRDB 7.10 ends the process when it finds no memory while it opens a file: memory fails from there on.
        if fault != "memory" { arm(nth) }
        do {
            let opened = try SQLiteStore(path: path, model: scenario.model)
            store = opened
            if fault == "memory" { arm(nth) }
            try Self.run(work, scenario, opened)
            outcome = "survived, closing"
            try opened.close()
            store = nil
            outcome = "survived to the end"
        } catch let error as StoreError {
            outcome = "\(outcome) until: \(error.code.rawValue): \(Self.cut(error.message))"
        }
        guard faulty_stop() > 0 else {
            try check(nth, outcome, isOver: true)
            return nil
        }
        let isIn = try check(nth, outcome, isOver: false)
        // What the caller does next: the same page again, with the store that it has.
        do {
            let open = try store ?? SQLiteStore(path: path, model: scenario.model)
            // An import twice changes nothing; edits twice are two edits.
            if work != .edits || !isIn { try Self.run(work, scenario, open) }
            try open.close()
        } catch {
            throw Violation("fault \(nth), \(outcome): the next import failed: \(error)")
        }
        try check(nth, outcome, isOver: true)
        return outcome + (isIn ? " (the page is in)" : " (the page is not in)")
    }

    private func arm(_ nth: Int) {
        switch fault {
        case "memory": faulty_memory(Int64(nth), isPersistent ? 1 : 0)
        case "full": faulty_disk(Int64(nth), isPersistent ? 1 : 0, Int32(FAULTY_FULL))
        default: faulty_disk(Int64(nth), isPersistent ? 1 : 0, Int32(FAULTY_IO_ERROR))
        }
    }

    @discardableResult
    private func check(_ nth: Int, _ outcome: String, isOver: Bool) throws -> Bool {
        let words = "fault \(nth), \(outcome)"
        guard FileManager.default.fileExists(atPath: path) else {
            if isOver { throw Violation("\(words): there is no file") }
            return false
        }
        let faults = try scenario.faults(of: path)
        guard faults.isEmpty else { throw Violation("\(words): \(faults.joined(separator: "; "))") }
        let contents = try scenario.contents(of: path)
        if contents == after { return true }
        // A file that has its tables and no page yet.
        if !isOver, contents == before { return false }
        let difference = contents.difference(from: isOver ? after : before)
        throw Violation(
            "\(words): the file holds neither what it did nor what it should: \(difference.first.map { "\($0)" } ?? "")"
        )
    }

    private static func cut(_ text: String) -> String {
        // Paths and names of statements differ from one fault to the next.
        String(text.split(separator: ": ").last ?? "").components(separatedBy: " while ")[0]
    }
}
