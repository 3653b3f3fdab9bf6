import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Many programs at one file.
    @Suite struct WriteStressTests {
        @Test func `eight writers beside a sync and a push lose nothing`() async throws {
            let place = try RemoteWorkspace.notes()
            try await place.expect("sync", "-q")
            for number in 1...8 { try await place.expect("create", "Note", "--set", "text=base\(number)") }
            try await place.expect("push")
            let each = 6
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 1...8 {
                    group.addTask {
                        for number in 1...each {
                            try await place.expect("create", "Note", "--set", "text=w\(writer)-\(number)")
                            try await place.expect("update", "Note", "\(writer)", "--set", "city=c\(number)")
                        }
                    }
                }
                group.addTask {
                    for _ in 1...6 {
                        try await place.expect("sync", "-q")
                        // Another push may be at it, and edits come while this one sends.
                        _ = try await place.bmo("push")
                    }
                }
                try await group.waitForAll()
            }
            try await eventually("all is sent") {
                try await place.bmo("push", "--look-again-after", "0s").exitCode == 0
            }
            #expect(try place.faults() == [])
            let expected = Set((1...8).flatMap { writer in (1...each).map { "w\(writer)-\($0)" } })
            let local = try place.rows("SELECT text FROM Note WHERE text LIKE 'w%'").map { $0[0] }
            #expect(local.count == expected.count && Set(local) == expected)
            let remote = try await place.server.content()
            for text in expected { #expect(remote.components(separatedBy: "\"\(text)\"").count == 2, "\(text)") }
            #expect(try place.value("SELECT count(*) FROM Note WHERE id <= 8 AND city = 'c\(each)'") == "8")
            #expect(remote.components(separatedBy: "\"city\": \"c\(each)\"").count == 9)
        }
    }
}
