import BridgeKit
import Testing
import TestLiterals

@testable import SMBBridge

extension AgainstRealServer {
    /// Which file an edit of a row is about, and the values that only say so.
    @Suite struct RowPlaceTests {
        let server: SMBServer
        let bridge: SMBBridge

        private let paths = [
            "year": ["year"], "id": ["id"], "name": ["name"], "country": ["country"], "file": ["@path"],
        ]

        init() throws {
            server = try SMBServer.shared.get()
            bridge = try SMBBridge(server, share: "rw")
        }

        /// Makes a folder that anybody may write to, with these files.
        private func write(_ files: [String: String], in folder: String) throws {
            try SMBServer.run("mkdir -p \"$1/\(folder)\"; chmod 777 \"$1/\(folder)\"", server.writable)
            for (name, text) in files {
                let path = server.writable + "/" + folder + "/" + name
                try SMBServer.write(text, to: path)
                try SMBServer.run("chmod 666 \"$1\"", path)
            }
        }

        @Test func `the file of a row is read under any name, and no edit moves the row to another`() throws {
            let tables = ["2024.csv": "id,name\n1,a\n2,b\n", "2025.csv": "id,name\n1,A\n"]
            try write(tables, in: "p1")
            var edit = Edit(
                operation: .update, section: ["csv": "p1/{year}.csv", "write": "rewrite"],
                key: ["year": "2024", "id": 1], values: ["@path": "p1/2025.csv", "name": "MOVED"],
                object: ["year": "2024", "id": 1, "name": "MOVED", "file": "p1/2025.csv"],
                before: ["@path": "p1/2024.csv", "name": "a"], paths: paths)
            let moved = try bridgeError { try edit.send(to: bridge) }
            #expect(moved.code == .unsupported)
            #expect(
                moved.message
                    == "a row cannot be moved to another file: its file is p1/2024.csv, and cannot become p1/2025.csv")
            #expect(moved.remedy == "create it there, and delete it here")
            edit.values = ["year": "2025"]
            edit.before = ["year": "2024"]
            edit.object = ["year": "2025", "id": 1, "name": "a", "file": "p1/2024.csv"]
            #expect(
                try bridgeError { try edit.send(to: bridge) }.message
                    == "a row cannot be moved to another file: year of p1/2024.csv is 2024, and cannot become 2025")
            edit.values = ["@row": 2]
            #expect(try bridgeError { try edit.send(to: bridge) }.message == "bmo cannot set @row of a row")
            for (name, text) in tables { #expect(server.content("p1/" + name) == text) }

            edit.values = ["name": "x", "year": 2024]
            try edit.send(to: bridge)
            #expect(server.content("p1/2024.csv") == "id,name\n1,x\n2,b\n")
        }

        @Test func `a capture does not become a member of a line, unless the line has one of its name`() throws {
            let lines = "{\"id\":1}\n{\"id\":2,\"country\":\"own\"}\n"
            try write(["FR.nd": lines], in: "p2")
            var edit = Edit(
                operation: .update, section: ["ndjson": "p2/{country}.nd", "write": "rewrite"], key: ["id": 1],
                values: ["country": "DE"], object: ["id": 1, "country": "DE", "file": "p2/FR.nd"],
                before: ["country": "FR"], paths: paths)
            #expect(
                try bridgeError { try edit.send(to: bridge) }.message
                    == "a row cannot be moved to another file: country of p2/FR.nd is FR, and cannot become DE")
            #expect(server.content("p2/FR.nd") == lines)
            edit.key = ["id": 2]
            edit.before = ["country": "own"]
            edit.object = ["id": 2, "country": "DE", "file": "p2/FR.nd"]
            try edit.send(to: bridge)
            #expect(server.content("p2/FR.nd") == "{\"id\":1}\n{\"id\":2,\"country\":\"DE\"}\n")
            try Edit(
                operation: .create, section: edit.section, values: ["id": 3, "country": "FR", "@path": "p2/FR.nd"]
            ).send(to: bridge)
            #expect(server.content("p2/FR.nd")?.hasSuffix("\n{\"id\":3}\n") == true)
        }

        @Test func `a new row goes to its file without the captures, which must agree with the path`() throws {
            try write(["2024.csv": "id,name\n1,a\n"], in: "p3")
            func create(_ values: Literal) throws {
                try Edit(
                    operation: .create, section: ["csv": "p3/{year}.csv", "write": "append"], values: values,
                    members: ["id", "name", "year", "@path"]
                ).send(to: bridge)
            }
            try create(["id": 2, "name": "b", "year": 2024, "@path": "p3/2024.csv"])
            #expect(server.content("p3/2024.csv") == "id,name\n1,a\n2,b\n")
            try create(["id": 3, "year": "2026", "@path": "p3/2026.csv", "@row": 7])
            #expect(server.content("p3/2026.csv") == "id,name\n3,\n")
            let other = try bridgeError { try create(["id": 4, "year": "2024", "@path": "p3/2027.csv"]) }
            #expect(other.code == .unsupported)
            #expect(other.message == "year of p3/2027.csv is 2027, and cannot become 2024")
            let outside = try bridgeError { try create(["id": 5, "@path": "p3/deep/2024.csv"]) }
            #expect(outside.code == .configuration)
            #expect(outside.message == "the next sync would not find p3/deep/2024.csv: the entity reads p3/{year}.csv")
            #expect(SMBServer.names(in: server.writable + "/p3") == ["2024.csv", "2026.csv"])
        }

        @Test func `a new row whose key the file has is a conflict`() throws {
            try write(["a.csv": "id,name\n007,a\n"], in: "p4")
            func create(_ id: Literal) throws {
                try Edit(
                    operation: .create, section: ["csv": "p4/a.csv", "write": "append"], key: ["id": id],
                    values: ["id": id, "name": "b"], paths: paths
                ).send(to: bridge)
            }
            let error = try bridgeError { try create(7) }
            #expect(error.code == .conflict)
            #expect(error.message == "p4/a.csv has a row with id = 7 already")
            try create(8)
            #expect(server.content("p4/a.csv") == "id,name\n007,a\n8,b\n")
        }
    }
}
