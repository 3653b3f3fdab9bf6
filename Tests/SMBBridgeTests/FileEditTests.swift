import BridgeKit
import Testing
import TestLiterals

@testable import SMBBridge

extension AgainstRealServer {
    /// Which file an edit is about, and which values it can set.
    @Suite struct FileEditTests {
        let server: SMBServer
        let bridge: SMBBridge

        init() throws {
            server = try SMBServer.shared.get()
            bridge = try SMBBridge(server, share: "rw")
        }

        private let files: Literal = ["files": "**", "content": "text"]

        @discardableResult
        private func create(_ path: String, _ content: String) throws -> [String: String] {
            try Edit(
                operation: .create, section: files, values: ["path": .text(path), "content": .text(content)]
            ).send(to: bridge)
        }

        @Test func `a file is found at its path, and not at a key that reads something else`() throws {
            let composed = "docs/\u{E9}.txt"
            let decomposed = "docs/e\u{301}.txt"
            try create("e1/a.txt", "root")
            try create("e1/docs/a.txt", "docs")
            try create("e1/\(decomposed)", "macOS")
            let inner = try SMBBridge(server, share: "rw", folder: "/e1")
            let section: Literal = ["files": "docs/*.txt", "content": "text"]
            try Edit(
                operation: .update, section: section, key: ["name": "a.txt"], values: ["content": "edited"],
                object: ["name": "a.txt", "path": "docs/a.txt"], paths: ["name": ["name"], "path": ["path"]]
            ).send(to: inner)
            #expect(server.content("e1/docs/a.txt") == "edited")
            #expect(server.content("e1/a.txt") == "root")

            let keys = ["path_key": ["path_key"], "place": ["path"]]
            try Edit(
                operation: .delete, section: section, key: ["path_key": .text(composed)],
                object: ["path_key": .text(composed), "place": .text(decomposed)], paths: keys
            ).send(to: inner)
            #expect(SMBServer.names(in: server.writable + "/e1/docs") == ["a.txt"])

            let unknown = try bridgeError {
                try Edit(
                    operation: .delete, section: ["files": "**"], key: ["path_key": "docs/a.txt"],
                    object: ["path_key": "docs/a.txt"], paths: ["path_key": ["path_key"]]
                ).send(to: inner)
            }
            #expect(unknown.code == .configuration)
            #expect(unknown.message == "a Document has no path: bmo cannot tell which file it is")
            #expect(unknown.remedy == "give the entity an attribute that reads path")
        }

        @Test func `the path before an edit is taken, and folder and name in place of it`() throws {
            try create("e2/a.txt", "x")
            let names = ["id": ["inode"], "title": ["name"], "place": ["folder"]]
            try Edit(
                operation: .update, section: files, key: ["id": 7], values: ["name": "b.txt"],
                object: ["id": 7, "title": "b.txt", "place": "e2"], before: ["name": "a.txt"], paths: names
            ).send(to: bridge)
            #expect(SMBServer.names(in: server.writable + "/e2") == ["b.txt"])
            try Edit(
                operation: .update, section: files, key: ["id": 7], values: ["path": "e2/c.txt"],
                object: ["id": 7, "where": "e2/c.txt"], before: ["path": "e2/b.txt"],
                paths: ["id": ["inode"], "where": ["path"]]
            ).send(to: bridge)
            #expect(SMBServer.names(in: server.writable + "/e2") == ["c.txt"])
            // A name alone is enough where the pattern has one folder.
            let named = Edit(
                operation: .delete, section: ["files": "e2/*"], key: ["title": "c.txt"], object: ["title": "c.txt"],
                paths: ["title": ["name"]])
            var anywhere = named
            anywhere.section = ["files": "**"]
            #expect(try bridgeError { try anywhere.send(to: bridge) }.code == .configuration)
            try named.send(to: bridge)
            #expect(SMBServer.names(in: server.writable + "/e2") == [])
        }

        @Test func `a conflict is found whatever the attributes of size and time are called`() throws {
            let made = try create("e3/a.txt", "one")
            let modified = made["modified"]?.filter { $0 != "\"" } ?? ""
            let paths = ["path": ["path"], "bytes": ["size"], "mtime": ["modified"]]
            var edit = Edit(
                operation: .update, section: files, key: ["path": "e3/a.txt"], values: ["content": "mine"],
                object: ["path": "e3/a.txt", "bytes": "2"], paths: paths)
            let size = try bridgeError { try edit.send(to: bridge) }
            #expect(size.code == .conflict)
            #expect(size.message == "cannot write e3/a.txt: it has 3 bytes, and had 2 when it was read")
            edit.operation = .delete
            edit.values = [:]
            edit.object = ["path": "e3/a.txt", "bytes": "3", "mtime": "2001-02-03T04:05:06Z"]
            #expect(try bridgeError { try edit.send(to: bridge) }.code == .conflict)
            #expect(server.content("e3/a.txt") == "one")

            // The object has the time that the update sets.
            edit.operation = .update
            edit.values = ["modified": "2001-02-03T04:05:06Z"]
            edit.before = ["modified": .text(modified)]
            let touched = try edit.send(to: bridge)
            #expect(touched["modified"]?.contains("2001-02-03T04:05:06") == true)
            #expect(try bridgeError { try edit.send(to: bridge) }.code == .conflict, "it is not as before any more")
        }

        @Test func `what an update answers is the object, also under another path`() throws {
            #expect(SMBBridge.descriptor.capabilities.contains(.moves))
            try create("e4/FR/a.txt", "x")
            let answer = try Edit(
                operation: .update, section: ["files": "e4/{country}/*"], key: ["path": "e4/FR/a.txt"],
                values: ["folder": "e4/DE"], object: ["path": "e4/FR/a.txt"], paths: ["path": ["path"]]
            ).send(to: bridge)
            #expect(answer["path"] == #""e4/DE/a.txt""#)
            #expect(answer["country"] == #""DE""#)
        }

        @Test func `a value that cannot be set is refused, and nothing is changed`() throws {
            try create("e5/FR/n.txt", "n")
            let section: Literal = ["files": "e5/{country}/*", "content": "text"]
            let path = "e5/FR/n.txt"
            let refused: [(values: Literal, message: String)] = [
                (["country": "DE"], "country of \(path) is FR, and cannot become DE"),
                (["name": "m.txt", "country": .null], "country of e5/FR/m.txt is FR, and cannot become null"),
                (["hidden": true], "bmo cannot set hidden of a file"),
                (["readonly": false], "bmo cannot set readonly of a file"),
                (["created": "2020-01-01T00:00:00Z"], "bmo cannot set created of a file"),
                (["sha256": "00"], "bmo cannot set sha256 of a file"),
                (["owner": .null], "bmo cannot set owner of a file"),
                (["note": "x"], "bmo cannot set note of a file"),
                (["extension": "csv"], "extension of \(path) is txt, and cannot become csv"),
                (["path_key": "x"], "path_key of \(path) is e5/fr/n.txt, and cannot become x"),
                (["is_directory": true], "is_directory of \(path) is false, and cannot become true"),
                (["size": 99], "size of \(path) is 7, and cannot become 99"),
                (["path": "e5/FR/m.txt", "name": "o.txt"], "name of e5/FR/m.txt is m.txt, and cannot become o.txt"),
                (["path": .null], "path of \(path) is \(path), and cannot become null"),
                (["name": .null], "name of \(path) is n.txt, and cannot become null"),
                (["modified": "yesterday"], "the modified of \(path) is not a time"),
            ]
            for (values, message) in refused {
                let error = try bridgeError {
                    try Edit(
                        operation: .update, section: section, key: ["path": .text(path)],
                        values: values.adding(["content": "changed"]), object: ["path": .text(path)],
                        paths: ["path": ["path"]]
                    ).send(to: bridge)
                }
                #expect(error.message == message)
                #expect(server.content(path) == "n", "\(values)")
            }
            let unread = try bridgeError {
                try Edit(
                    operation: .update, section: ["files": "e5/**", "content": "hash"], key: ["path": .text(path)],
                    values: ["content": "changed"]
                ).send(to: bridge)
            }
            #expect(unread.code == .unsupported && unread.message == "bmo cannot set content of a file")
            #expect(unread.remedy == "add content: text or content: data to the section")
            #expect(SMBServer.names(in: server.writable + "/e5/FR") == ["n.txt"])
        }

        @Test func `a value that the file has by its path or content is accepted`() throws {
            try create("e6/FR/n.txt", "n")
            let section: Literal = ["files": "e6/{country}/*", "content": "text"]
            try Edit(
                operation: .update, section: section, key: ["path": "e6/FR/n.txt"],
                values: [
                    "folder": "e6/49", "name": "m.csv", "extension": "csv", "path_key": "e6/49/m.csv", "country": 49,
                    "is_directory": false, "content": "abc", "size": 3,
                ]
            ).send(to: bridge)
            #expect(server.content("e6/49/m.csv") == "abc")
            #expect(server.content("e6/FR/n.txt") == nil)
        }

        @Test func `a deleted file is created again with all that it had, but not with other facts`() throws {
            let file: Literal = [
                "path": "e7/a.txt", "path_key": "e7/a.txt", "name": "a.txt", "folder": "e7", "extension": "txt",
                "size": 3, "modified": "2001-02-03T04:05:06Z", "created": "2001-02-03T04:05:06Z",
                "accessed": "2001-02-03T04:05:06Z", "changed": "2001-02-03T04:05:06Z", "is_directory": false,
                "hidden": false, "readonly": false, "system": false, "archive": true, "reparse_point": false,
                "attributes": 32, "inode": 5, "owner": "S-1-1", "group": "S-1-2", "content": "abc",
            ]
            for (values, message) in [
                (["hidden": true], "bmo cannot set hidden of a file"),
                (["size": 4], "size of e7/a.txt is 3, and cannot become 4"),
                (["folder": "e8"], "folder of e7/a.txt is e7, and cannot become e8"),
            ] as [(Literal, String)] {
                let error = try bridgeError {
                    try Edit(operation: .create, section: files, values: file.adding(values)).send(to: bridge)
                }
                #expect(error.code == .unsupported && error.message == message)
            }
            #expect(SMBServer.names(in: server.writable + "/e7") == [])
            try Edit(operation: .create, section: files, values: file).send(to: bridge)
            #expect(server.content("e7/a.txt") == "abc")
        }

        @Test(arguments: [("e9", "a.txt", "A.txt"), ("e10", "caf\u{E9}.txt", "cafe\u{301}.txt")])
        func `a move to a name that differs in case or normal form only replaces no other file`(
            folder: String, name: String, other: String
        ) throws {
            try create(folder + "/" + name, "first")
            try SMBServer.write("second", to: server.writable + "/" + folder + "/" + other)
            let error = try bridgeError {
                try Edit(
                    operation: .update, section: files, key: ["path": .text(folder + "/" + name)],
                    values: ["name": .text(other)]
                ).send(to: bridge)
            }
            #expect(error.code == .conflict)
            #expect(error.message == "cannot write \(folder)/\(other): one of that name already exists")
            #expect(server.content(folder + "/" + name) == "first")
            #expect(server.content(folder + "/" + other) == "second")
        }

        @Test func `a name can change in its normal form only`() throws {
            try create("e11/cafe\u{301}.txt", "x")
            try Edit(
                operation: .update, section: files, key: ["path": "e11/cafe\u{301}.txt"],
                values: ["name": "caf\u{E9}.txt"]
            ).send(to: bridge)
            let names = SMBServer.names(in: server.writable + "/e11").map { Array($0.utf8) }
            #expect(names == [Array("caf\u{E9}.txt".utf8)])
        }

        @Test func `what the next sync would not find is refused`() throws {
            try create("e12/a.txt", "a")
            let section: Literal = [
                "files": "e12/*.txt", "exclude": "e12/x*", "content": "text", "max_content_bytes": 5,
            ]
            let selection = "the entity reads e12/*.txt, without e12/x*"
            for name in ["b.md", "xx.txt", "deep/b.txt"] {
                let message = "the next sync would not find e12/\(name): \(selection)"
                let new = try bridgeError {
                    try Edit(operation: .create, section: section, values: ["path": .text("e12/" + name)])
                        .send(to: bridge)
                }
                #expect(new.code == .configuration && new.message == message)
                let moved = try bridgeError {
                    try Edit(
                        operation: .update, section: section, key: ["path": "e12/a.txt"],
                        values: ["path": .text("e12/" + name)]
                    ).send(to: bridge)
                }
                #expect(moved.message == message)
            }
            let refused: [(values: Literal, message: String)] = [
                (
                    ["path": "e12/b.txt", "content": "longer"],
                    "the content of e12/b.txt has 6 bytes, more than max_content_bytes (5): the next sync would read null"
                ),
                (
                    ["path": "e12/b.txt", "is_directory": true],
                    "the next sync would not find e12/b.txt: the entity reads no folders"
                ),
                (
                    ["path": "e12/con.txt"],
                    "the path \"e12/con.txt\" has the name \"con.txt\", which Windows takes for a device"
                ),
            ]
            for (values, message) in refused {
                let error = try bridgeError {
                    try Edit(operation: .create, section: section, values: values).send(to: bridge)
                }
                #expect(error.message == message)
            }
            let longer = try bridgeError {
                try Edit(
                    operation: .update, section: section, key: ["path": "e12/a.txt"], values: ["content": "longer"]
                ).send(to: bridge)
            }
            #expect(longer.code == .limit)
            #expect(SMBServer.names(in: server.writable + "/e12") == ["a.txt"])
            #expect(server.content("e12/a.txt") == "a")
        }

        @Test func `an edit whose move is a conflict leaves the content as it was`() throws {
            try create("e8/a.txt", "A")
            try create("e8/b.txt", "B")
            for (move, why) in [
                (["name": "b.txt"], "cannot write e8/b.txt: one of that name already exists"),
                (["folder": "e8/b.txt"], "cannot write e8/b.txt/a.txt: e8/b.txt is not a folder"),
            ] as [(Literal, String)] {
                let error = try bridgeError {
                    try Edit(
                        operation: .update, section: files, key: ["path": "e8/a.txt"],
                        values: move.adding(["content": "new"])
                    ).send(to: bridge)
                }
                #expect(error.code == .conflict && error.message == why)
                #expect(server.content("e8/a.txt") == "A")
            }
            #expect(server.content("e8/b.txt") == "B")
            #expect(SMBServer.names(in: server.writable + "/e8") == ["a.txt", "b.txt"])
        }
    }
}
