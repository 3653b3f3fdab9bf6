import Foundation
import TestSupport
import Testing
@testable import SystemCalls

@Suite struct FileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    private func file(_ bytes: [UInt8]) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: path("file")))
        return path("file")
    }

    // MARK: Reading

    @Test(arguments: [0, 1, 65_536, 65_537, 200_000])
    func `a file is read whole up to its limit`(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let file = try file(bytes)
        #expect(try BoundedFile.read(file, limit: count) == bytes)
        #expect(try BoundedFile.read(file, limit: count, kind: .regular) == bytes)
        if count > 0 {
            #expect(throws: BoundedFile.Failure.tooLarge) { try BoundedFile.read(file, limit: count - 1) }
        }
    }

    @Test func `the beginning of a file needs no limit`() throws {
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        let file = try file(bytes)
        #expect(try BoundedFile.prefix(of: file, 70_000) == Array(bytes.prefix(70_000)))
        #expect(try BoundedFile.prefix(of: file, 200_000) == bytes)
        #expect(try BoundedFile.prefix(of: "/dev/zero", 3) == [0, 0, 0])
    }

    @Test func `a scan ends where the caller stops it`() throws {
        let file = try file([UInt8](repeating: 7, count: 300_000))
        var chunks = 0
        try BoundedFile.scan(file) { chunk in
            #expect(chunk.nonEmptyAllSatisfy { $0 == 7 })
            chunks += 1
            return chunks < 2
        }
        #expect(chunks == 2)
    }

    @Test func `an endless device is too large`() {
        #expect(throws: BoundedFile.Failure.tooLarge) { try BoundedFile.read("/dev/zero", limit: 1 << 20) }
    }

    @Test func `each reason has its own case`() throws {
        func failure(_ path: String, _ kind: BoundedFile.Kind = .any) -> BoundedFile.Failure? {
            do throws(BoundedFile.Failure) {
                _ = try BoundedFile.read(path, limit: 10, kind: kind)
                return nil
            } catch {
                return error
            }
        }
        #expect(failure(path("none")) == .unopenable(ENOENT))
        #expect(failure(try file([]) + "/inside") == .unopenable(ENOTDIR))
        #expect(failure(path("file\0")) == .invalidPath)
        #expect(failure(folder.path) == .unreadable(EISDIR))
        #expect(failure(folder.path, .regular) == .irregular)
        #expect(failure("/dev/null", .regular) == .irregular)
        #expect(failure("/dev/null") == nil)
        #expect(failure(path("none"))?.words == "No such file or directory")
    }

    @Test func `a pipe is read until its writer closes it`() throws {
        let pipe = path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(throws: BoundedFile.Failure.irregular) { try BoundedFile.read(pipe, limit: 10, kind: .regular) }
        let writer = try #require(
            NativeThread {
                let file = open(pipe, O_WRONLY)
                _ = write(file, "abc", 3)
                close(file)
            })
        #expect(try BoundedFile.read(pipe, limit: 3) == Array("abc".utf8))
        writer.join()
    }

    // MARK: Writing

    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    @Test func `a file is created and replaced, and nothing else stays`() throws {
        let file = path("file")
        try AtomicFile.write(Array("one".utf8), to: file, mode: 0o600)
        #expect(try BoundedFile.read(file, limit: 10) == Array("one".utf8))
        #expect(mode(file) == 0o600)
        let large = [UInt8](repeating: 1, count: 300_000)
        try AtomicFile.write(large, to: file, mode: 0o600)
        #expect(try BoundedFile.read(file, limit: 300_000) == large)
        #expect(try files() == ["file"])
    }

    @Test func `a reader of a file that is replaced sees one of its contents`() throws {
        let file = path("file")
        let contents = [[UInt8](repeating: 1, count: 100_000), [UInt8](repeating: 2, count: 150_000)]
        try AtomicFile.write(contents[0], to: file, mode: 0o600)
        let writer = try #require(
            NativeThread {
                for round in 0..<100 { try? AtomicFile.write(contents[round % 2], to: file, mode: 0o600) }
            })
        for _ in 0..<100 { #expect(contents.contains(try BoundedFile.read(file, limit: 200_000))) }
        writer.join()
    }

    @Test func `what cannot be written leaves nothing behind`() throws {
        #expect(throws: AtomicFile.Failure(number: ENOENT)) {
            try AtomicFile.write([], to: path("none/file"), mode: 0o600)
        }
        #expect(mkdir(path("folder"), 0o700) == 0)
        #expect(throws: AtomicFile.Failure(number: EISDIR)) {
            try AtomicFile.write([1], to: path("folder"), mode: 0o600)
        }
        #expect(try files() == ["folder"])
    }

    @Test func `a new file never replaces one`() throws {
        let file = path("file")
        try AtomicFile.create(file, [1], mode: 0o600)
        #expect(throws: AtomicFile.Failure(number: EEXIST)) { try AtomicFile.create(file, [2], mode: 0o600) }
        #expect(try BoundedFile.read(file, limit: 10) == [1])
    }
}
