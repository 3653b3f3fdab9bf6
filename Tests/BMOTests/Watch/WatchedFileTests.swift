import Foundation
import Glibc
import StoreContract
import SystemCalls
import TestSupport
import Testing

@testable import BMO

/// What a watch learns about the file of its database.
@Suite struct WatchedFileTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = try folder.write("first", to: "file")
    }

    private func write(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

    private func replace() throws {
        let other = try folder.write("second", to: "other")
        #expect(rename(other, path) == 0)
    }

    @Test func `a change of the content is none, and each of the file is told once`() throws {
        #expect(FileIdentity(path) != nil)
        var file = WatchedFile(FileIdentity(path))
        #expect(file.change(to: FileIdentity(path)) == nil)
        try write("changed")
        #expect(file.change(to: FileIdentity(path)) == nil)
        try replace()
        #expect(file.change(to: FileIdentity(path)) == .replaced)
        #expect(file.change(to: FileIdentity(path)) == nil)
    }

    @Test func `a file that is missing was removed, and comes back or is made anew`() throws {
        var file = WatchedFile(FileIdentity(path))
        try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
        #expect(file.change(to: FileIdentity(path)) == .removed)
        #expect(file.change(to: FileIdentity(path)) == nil, "this is told once")
        try FileManager.default.moveItem(atPath: path + ".moved", toPath: path)
        #expect(file.change(to: FileIdentity(path)) == .returned)
        try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
        #expect(file.change(to: FileIdentity(path)) == .removed)
        try write("another file")
        #expect(file.change(to: FileIdentity(path)) == .made)
        #expect(file.change(to: FileIdentity(path)) == nil)
    }

    @Test func `the database of a server has no file and never changes`() {
        var file = WatchedFile(nil)
        let none = FileIdentity("postgresql://host/database")
        #expect(file.change(to: none) == nil && file.change(to: none) == nil)
    }

    @Test func `a log that was beside the file before it was replaced is that of the old file, until it is deleted`()
        throws
    {
        try folder.write("log", to: "file-wal")
        let database = WatchedDatabase(path, FileIdentity(path))
        try database.refuseStaleLog()
        try replace()
        for _ in 1...2 {
            let error = #expect(throws: StoreError.self) { try database.refuseStaleLog() }
            #expect(error?.message == "\(path): it was replaced, but \(path)-wal still belongs to the old file")
            #expect(error?.remedy?.contains("\(path)-shm") == true)
            // Another copy does not make it better.
            try replace()
        }
        try FileManager.default.removeItem(atPath: path + "-wal")
        try database.refuseStaleLog()
        try folder.write("new log", to: "file-wal")
        try database.refuseStaleLog()
    }

    @Test func `a new log comes with a new file, and a file that returns keeps its own`() throws {
        try folder.write("log", to: "file-wal")
        let database = WatchedDatabase(path, FileIdentity(path))
        try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
        try database.refuseStaleLog()
        try FileManager.default.moveItem(atPath: path + ".moved", toPath: path)
        try database.refuseStaleLog()
        let other = try folder.write("new log", to: "other-wal")
        #expect(rename(other, path + "-wal") == 0)
        try replace()
        try database.refuseStaleLog()
    }

    @Test func `the words name the file and what becomes of edits`() {
        for change in [WatchedFile.Change.removed, .replaced, .made] {
            let words = change.words("/data/bmo.sqlite")
            #expect(words.hasPrefix("/data/bmo.sqlite: the database was "), "\(words)")
            #expect(words.contains("are not sent"), "\(words)")
        }
    }
}
