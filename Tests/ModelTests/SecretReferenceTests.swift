import Foundation
import Model
import Testing

@Suite struct SecretReferenceTests {
    @Test func `a variable gives its value`() throws {
        #expect(try SecretReference.env("P").resolve(relativeTo: "/", environment: ["P": "pw\n"]) == "pw\n")
    }

    @Test func `a variable that is not set or empty is named with the remedy`() {
        let missing = #expect(throws: SecretError.self) {
            try SecretReference.env("P").resolve(relativeTo: "/", environment: [:])
        }
        #expect(missing?.code == .missing)
        #expect(missing?.description == "the environment variable P is not set; set it, or use {file: PATH}")
        let empty = #expect(throws: SecretError.self) {
            try SecretReference.env("P").resolve(relativeTo: "/", environment: ["P": ""])
        }
        #expect(empty?.code == .empty)
    }

    @Test func `a pipe is waited for but not for ever`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let pipe = folder.appendingPathComponent("pipe").path
        try #require(mkfifo(pipe, 0o600) == 0)
        let error = #expect(throws: SecretError.self) {
            try SecretReference.file("pipe").resolve(relativeTo: folder.path, environment: [:])
        }
        #expect(
            error?.description
                == "the secret's file \(pipe) is a pipe or a device, and sent nothing within 5 s; "
                + "make its program write at once, or name a file")
        let writer = Process()
        writer.executableURL = URL(fileURLWithPath: "/bin/sh")
        writer.arguments = ["-c", "(printf 'of a p'; sleep 0.1; echo ipe) > '\(pipe)'"]
        try writer.run()
        #expect(try SecretReference.file("pipe").resolve(relativeTo: folder.path, environment: [:]) == "of a pipe")
        writer.waitUntilExit()
    }

    @Test func `a file gives its content without one newline`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func resolve(_ bytes: [UInt8]) throws -> String {
            try Data(bytes).write(to: folder.appendingPathComponent("pw"))
            return try SecretReference.file("pw").resolve(relativeTo: folder.path, environment: [:])
        }
        #expect(try resolve(Array("pä\n\n".utf8)) == "pä\n")
        #expect(try resolve(Array("pw\r\n".utf8)) == "pw")
        #expect(try resolve([0xEF, 0xBB, 0xBF] + Array("pw\r\n".utf8)) == "pw", "an editor's byte order mark")
        #expect(try resolve([UInt8](repeating: 0x61, count: 64 * 1024)).count == 64 * 1024)
        func fails(_ bytes: [UInt8], _ code: SecretError.Code) {
            let error = #expect(throws: SecretError.self) { try resolve(bytes) }
            #expect(error?.code == code)
            #expect(error?.description.contains(folder.path + "/pw") == true)
        }
        fails(Array("\n".utf8), .empty)
        fails([0xEF, 0xBB, 0xBF], .empty)
        fails([0x68, 0xFF], .unreadable)
        fails([UInt8](repeating: 0x61, count: 64 * 1024 + 1), .unreadable)
        try FileManager.default.removeItem(at: folder.appendingPathComponent("pw"))
        let error = #expect(throws: SecretError.self) {
            try SecretReference.file("./pw").resolve(relativeTo: folder.path, environment: [:])
        }
        #expect(error?.code == .missing)
        #expect(error?.description == "the secret's file \(folder.path)/pw does not exist; check the path")
    }
}
