import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// `isolation: external`: Singer taps that others wrote, and taps that do what they must not.
    @Suite struct TapTests: TestWorkspace {
        let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
        }

        // MARK: taps of others

        @Test func `tap-jsonl brings what is new by its own STATE, exactly, and deletes nothing`() async throws {
            try folder.write(
                #"{"id": 9223372036854775807, "name": "a", "price": 1.10}"# + "\n" + #"{"id": 2, "name": "b"}"# + "\n",
                to: "items.jsonl")
            try writeConfig(
                """
                command: [\(Self.tap("tap-jsonl"))]
                    tap_config: {path: items.jsonl, primary_keys: [id], stream_name: items}
                """, entity: "incremental: token", section: "stream: items")
            let check = try await bmo("check", "--remote")
            #expect(check.output.contains("the tap `tap-jsonl` offers 1 streams: items"), "\(check)")
            try await expectSync(0, ["Item tap finished 1 2 2 0 0 0 0"])
            #expect(
                try await query("SELECT id, name, price FROM Item ORDER BY 1") == "2|b|\n9223372036854775807|a|1.1")
            let status = try await bmo("status")
            #expect(status.output.contains("Item: the next scan asks for what changed since"), "\(status)")

            // A file of later: the tap tells only what it has not told.
            try folder.write(#"{"id": 3, "name": "c"}"# + "\n", to: "items.jsonl")
            try await expectSync(0, ["Item tap finished 1 1 1 0 0 0 0"])
            #expect(
                try await query("SELECT group_concat(name) FROM (SELECT name FROM Item ORDER BY name)") == "a,b,c")
        }

        @Test func `tap-rest-api brings whole listings, so that what is gone is deleted`() async throws {
            try publish(1...300)
            let server = try await RemoteServer.files(in: folder.appending("site"))
            let tap = Self.tap("tap-rest-api")
            try FileManager.default.createDirectory(
                atPath: folder.appending("schemas"), withIntermediateDirectories: true)
            try FileManager.default.createDirectory(
                atPath: folder.appending("catalogs"), withIntermediateDirectories: true)
            let config = """
                {"url": "\(server.url)/users.json", "record_list_level": "data[*]", "schema_dir": "schemas", \
                "catalog_dir": "catalogs", "streams": "users", "items_per_page": 5000, "auth_method": "no_auth", \
                "max_page": 1, "index_key": "id", "start_index": 0}
                """
            // As its documentation has it: the tap looks at the API once.
            try folder.write(config, to: "tap.json")
            let inferred = try await ProcessRun.run(
                tap, ["--config", "tap.json", "--infer_schema"], directory: folder.path)
            try #require(inferred.exitCode == 0, "\(inferred)")
            try writeConfig(
                """
                command: \(tap)
                    tap_config: \(config)
                    catalog: catalogs/catalog.json
                    memory: 512 MiB
                """, section: "stream: users, replication: full_table")
            try await expectSync(0, ["Item tap finished 1 300 300 0 0 0 0"])
            #expect(try await query("SELECT id, name, price FROM Item WHERE id = 7") == "7|n7|7.25")
            try publish(6...305)
            try await expectSync(0, ["Item tap finished 1 300 5 0 295 5 0"])
        }

        @Test func `a tap's streams become a configuration that can be synced`() async throws {
            try folder.write(#"{"id": 1, "made": "2024-05-06T07:08:09Z"}"# + "\n", to: "items.jsonl")
            let run = try await bmo(
                "introspect", "singer", Self.tap("tap-jsonl"), "--option",
                #"tap_config={"path": "items.jsonl", "primary_keys": ["id"], "token": {"env": "TAP_TOKEN"}}"#,
                "-o", "bmo.yml")
            #expect(run.output.contains("1 entity ready"), "\(run)")
            let text = try String(contentsOfFile: folder.appending("bmo.yml"), encoding: .utf8)
            #expect(text.contains("key: id  # high: key_properties of the stream"), "\(text)")
            #expect(text.contains("made: timestamp") && text.contains("token: {env: TAP_TOKEN}"), "\(text)")
            let sync = try await bmo("sync")
            #expect(sync.exitCode == 0, "\(sync)")
        }

        // MARK: taps that do what they must not

        /// Each of them ends in one error for its entity, and the other entity of the sync is there.
        @Test(arguments: [
            ("exit 3", "failed while reading `items`, with exit code 3"),
            ("echo 'who am I, {}, sesame42?' >&2; exit 1", "the remote says: who am I, {}, ***?"),
            ("kill -SEGV $$", "was ended by segmentation fault (signal 11)"),
            ("echo Welcome; record 1", "printed something other than a Singer message: `Welcome`"),
            ("schema; record 1; cut", "ended in the middle of a message: `{\"type\": \"STATE"),
            ("schema; printf '{\"type\": \"RECORD\", \"re'", "ended in the middle of a message: `{\"type\": \"RECORD"),
            ("schema; cut; kill -KILL $$", "was ended by killed (signal 9)"),
            ("record 1", "a record of `items` without a SCHEMA before it"),
            ("true", "ended without mentioning the stream `items`"),
            ("schema; record 1", "ended without a STATE"),
            ("schema; record 1; sleep 60", "has written neither records nor log lines for 2 s"),
            ("schema; state; exec >&-; sleep 60", "has closed its output but does not exit"),
            ("schema; head -c 2500000 /dev/zero | tr '\\\\0' x; echo", "wrote a line of more than 1 MiB"),
            ("python3 -c 'x = bytes(900 << 20)'", "exceeded its memory limit (200 MiB)"),
            ("schema; echo '{\"type\": \"BATCH\", \"stream\": \"items\"}'", "writes its records to files"),
        ])
        func `a bad tap costs one clear error`(script: String, words: String) async throws {
            try writeTap(script)
            try folder.write(#"{"id": 1}"# + "\n", to: "items.jsonl")
            try writeConfig(
                """
                command: ./tap
                    tap_config: {password: {env: TAP_TOKEN}}
                    catalog: none
                    silence: 2
                    longest_line: 1
                    memory: 200 MiB
                  good: {isolation: external, command: ./good, catalog: none}
                """, section: "stream: items",
                more: "  Good: {bridge: good, key: id, attributes: {id: integer}, singer: {stream: items}}")
            try writeTap("schema; record 1; state", to: "good")
            let run = try await bmo("sync", "--quiet")
            #expect(run.exitCode == 1, "\(run)")
            let errors = run.errorOutput.split(separator: "\n").filter { $0.hasPrefix("bmo: error: ") }
            #expect(errors.count == 1 && errors[0].contains(words) && errors[0].contains("Item (bridge tap"), "\(run)")
            #expect(!run.allOutput.contains("sesame42"), "\(run)")
            #expect(try await query("SELECT count(*) FROM Good") == "1")
        }

        @Test func `a program that is not there is named with its remedy`() async throws {
            try writeConfig("command: [tap-of-nobody]\n    catalog: none", section: "stream: items")
            let run = try await bmo("sync")
            #expect(run.errorOutput.contains("`tap-of-nobody` is not in any folder of PATH; install it"), "\(run)")
            let check = try await bmo("check", "--remote")
            #expect(check.exitCode == 1 && check.allOutput.contains("is not in any folder of PATH"), "\(check)")
        }

        @Test func `a stream that the catalog lacks is reported with those that it has`() async throws {
            try writeTap(#"echo '{"streams": [{"tap_stream_id": "items", "stream": "items", "schema": {}}]}'"#)
            try writeConfig("command: ./tap", section: "stream: item")
            let run = try await bmo("sync")
            #expect(run.errorOutput.contains("the tap `tap` has no stream `item`; its streams: items"), "\(run)")
        }

        @Test func `a check of the remote names streams and attributes that the catalog lacks`() async throws {
            try writeTap(
                #"echo '{"streams": [{"stream": "items", "schema": {"properties": {"id": {"type": "integer"}, "#
                    + #""name": {"type": "string"}}}}]}'"#)
            try writeConfig(
                "command: ./tap", section: "stream: items",
                more: "  Other: {bridge: tap, key: id, attributes: {id: integer}, singer: {stream: itmes}}")
            let run = try await bmo("check", "--remote")
            #expect(run.exitCode == 1, "\(run)")
            #expect(
                run.errorOutput.contains(
                    "Other: tap: configuration: the tap `tap` has no stream `itmes`; its streams: items"), "\(run)")
            #expect(
                run.errorOutput.contains(
                    #"Item: attribute "price" reads "price", but the records have no "price"; they have: id, name"#),
                "\(run)")
        }

        @Test func `a record that JSON cannot express goes to quarantine, and the rest is imported`() async throws {
            try writeTap(
                #"schema; echo '{"type": "RECORD", "stream": "items", "record": {"id": 7, "price": NaN}}'; record 8; state"#
            )
            try writeConfig("command: ./tap\n    catalog: none", section: "stream: items")
            try await expectSync(0, ["Item tap finished 1 2 1 0 0 0 1"])
            let quarantine = try await bmo("quarantine")
            #expect(quarantine.output.contains("NaN"), "\(quarantine)")
        }

        @Test func `a whole record without a line's end is one`() async throws {
            try writeTap(#"schema; printf '{"type": "RECORD", "stream": "items", "record": {"id": 8}}'"#)
            try writeConfig("command: ./tap\n    catalog: none", section: "stream: items, replication: full_table")
            try await expectSync(0, ["Item tap finished 1 1 1 0 0 0 0"])
        }

        @Test func `a secret that the tap splits into lines is masked`() async throws {
            try writeTap(
                """
                echo 'at LONGSECRET-abcde' >&2; echo fghijklmnop >&2; echo 'qrstuvwxyz?' >&2
                printf 'x%.0s' {1..291} >&2; echo 'LONGSECRET-abcdefghijklmnopqrstuvwxyz' >&2; exit 1
                """)
            try writeConfig(
                "command: ./tap\n    tap_config: {key: {env: LONG_TOKEN}}\n    catalog: none", section: "stream: items")
            let run = try await bmo("sync", "--verbose")
            #expect(run.exitCode == 1 && run.errorOutput.contains("the tap says: at ***?"), "\(run)")
            #expect(run.errorOutput.contains("the remote says: at ***? | xxx"), "\(run)")
            for piece in ["abcde", "fghijklm", "qrstuv"] { #expect(!run.allOutput.contains(piece), "\(run)") }
        }

        @Test func `of streams with the same name, a section names one by its ID`() async throws {
            func stream(_ id: String) -> String {
                #"{"tap_stream_id": "\#(id)", "stream": "items", "key_properties": ["id"], "schema": {"properties": "#
                    + #"{"id": {"type": "integer"}, "name": {"type": "string"}}}}"#
            }
            let program = """
                import json, sys
                for s in json.load(open(sys.argv[1]))["streams"]:
                    if s["selected"]: print(json.dumps({"type": "RECORD", "stream": s["stream"],
                        "record": {"id": 1, "name": s["tap_stream_id"]}}))
                """
            try writeTap(
                """
                if [[ "$*" == *--discover* ]]; then
                    echo '{"streams": [\(stream("public-items")), \(stream("crm-items"))]}'; exit
                fi
                schema; python3 -c '\(program)' "$4"
                """)
            let introspect = try await bmo("introspect", "singer", "./tap", "-o", "draft.yml")
            #expect(introspect.exitCode == 0, "\(introspect)")
            let draft = try String(contentsOfFile: folder.appending("draft.yml"), encoding: .utf8)
            for line in ["  public_items:", "stream: public-items", "  crm_items:", "stream: crm-items"] {
                #expect(draft.contains(line), "no \(line) in\n\(draft)")
            }
            try writeConfig("command: ./tap", section: "stream: crm-items, replication: full_table")
            try await expectSync(0, ["Item tap finished 1 1 1 0 0 0 0"])
            #expect(try await query("SELECT name FROM Item") == "crm-items")
            try writeConfig("command: ./tap", section: "stream: items, replication: full_table")
            let run = try await bmo("sync")
            #expect(
                run.errorOutput.contains(
                    "has 2 streams of the name `items`; write the tap_stream_id of one: public-items, crm-items"),
                "\(run)")
        }

        @Test func `a stream's draft has a text where only some values are times, and escapes names`() async throws {
            let properties =
                #"{"d": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": ["string", "null"]}]}, "#
                + #""t": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "#
                + #""a.b": {"type": "string"}}"#
            try writeTap(
                #"echo '{"streams": [{"stream": "items", "key_properties": [], "schema": {"properties": "#
                    + properties + "}}]}'")
            let run = try await bmo("introspect", "singer", "./tap")
            #expect(run.exitCode == 1, "\(run)")
            for line in ["d: text", "t: timestamp", #"a_b: {type: text, from: 'a\.b'}"#] {
                #expect(run.output.contains(line), "no \(line) in\n\(run)")
            }
            #expect(run.output.contains("name the attributes that identify a record under key, or write unique: none"))
        }

        @Test func `an unreadable record of another stream, and a STATE of null, change nothing`() async throws {
            let other =
                #"echo '{"type": "RECORD", "stream": "others", "record": {"id": 7, "stream": "items", "a": NaN}}'; "#
            let nothing = #"; echo '{"type": "STATE", "value": null}'"#
            try writeConfig(
                "command: ./tap\n    catalog: none", entity: "incremental: token",
                section: "stream: items, replication: log_based")
            try writeTap("schema; " + other + "record 8; state" + nothing)
            try await expectSync(0, ["Item tap finished 1 1 1 0 0 0 0"])
            try writeTap(#"schema; cat "${@: -1}" >given; state"#)
            try await expectSync(0, ["Item tap finished 1 0 0 0 0 0 0"])
            #expect(
                try String(contentsOfFile: folder.appending("given"), encoding: .utf8).contains("bookmarks"))
        }

        @Test func `the plan names deletions only for a stream that comes whole`() async throws {
            try writeTap("schema; state")
            for (method, isWhole) in [("full_table", true), ("log_based", false)] {
                try writeConfig(
                    "command: ./tap\n    catalog: none", entity: isWhole ? "" : "incremental: token",
                    section: "stream: items, replication: \(method)")
                let plan = try await bmo("plan")
                #expect(plan.exitCode == 0, "\(plan)")
                #expect(plan.output.contains("rows that a complete listing lacks") == isWhole, "\(plan)")
            }
        }

        @Test func `records of a version that was not activated make no whole listing, and deletions are tombstones`()
            async throws
        {
            func record(_ id: Int, _ more: String) -> String {
                #"echo '{"type": "RECORD", "stream": "items", "version": 2, "record": {"id": \#(id)\#(more)}}'; "#
            }
            let activate = #"echo '{"type": "ACTIVATE_VERSION", "stream": "items", "version": 2}'; "#
            try writeConfig("command: ./tap\n    catalog: none", section: "stream: items, replication: full_table")
            try writeTap("schema; " + record(1, "") + record(2, "") + activate)
            try await expectSync(0, ["Item tap finished 1 2 2 0 0 0 0"])
            try writeTap("schema; " + record(2, ""))
            let run = try await bmo("sync")
            #expect(run.allOutput.contains("did not activate version 2 of `items`: nothing was deleted"), "\(run)")
            #expect(try await query("SELECT count(*) FROM Item") == "2")
            try writeTap("schema; " + record(1, #", "_sdc_deleted_at": "2024-01-01T00:00:00Z""#) + record(2, ""))
            try await expectSync(0, ["Item tap incomplete 1 1 0 0 1 1 0"])
        }

        @Test func `rows of a version that another one replaces in the same run stay, with a warning`() async throws {
            func version(_ number: Int, _ ids: [Int]) -> String {
                let records = ids.map {
                    #"echo '{"type": "RECORD", "stream": "items", "version": \#(number), "record": {"id": \#($0)}}'; "#
                }
                return records.joined()
                    + #"echo '{"type": "ACTIVATE_VERSION", "stream": "items", "version": \#(number)}'; "#
            }
            try writeConfig("command: ./tap\n    catalog: none", section: "stream: items, replication: full_table")
            try writeTap("schema; " + version(1, [1, 2]) + version(2, [2]))
            let run = try await bmo("sync")
            #expect(run.exitCode == 0, "\(run)")
            #expect(run.allOutput.contains("sent several versions of `items` in one run"), "\(run)")
            #expect(try await query("SELECT count(*) FROM Item") == "2")
            try writeTap("schema; " + version(3, [2]))
            try await expectSync(0, ["Item tap finished 1 1 0 0 1 1 0"])
        }

        @Test func `a record that follows the deletion of its object brings it back`() async throws {
            func message(_ id: Int, _ more: String) -> String {
                #"echo '{"type": "RECORD", "stream": "items", "record": {"id": \#(id), \#(more)}}'; "#
            }
            let gone = #""_sdc_deleted_at": "2024-01-01T00:00:00Z""#
            try writeConfig(
                "command: ./tap\n    catalog: none", entity: "incremental: token",
                section: "stream: items, replication: log_based")
            try writeTap("schema; record 1; record 2; record 3; state")
            try await expectSync(0, ["Item tap finished 1 3 3 0 0 0 0"])
            try writeTap(
                "schema; " + message(2, gone) + message(1, gone)
                    + message(2, #""name": "new", "_sdc_deleted_at": null, "other": 1"#)
                    + message(3, #""name": "old""#) + message(3, gone) + "state")
            let run = try await bmo("sync")
            #expect(run.exitCode == 0, "\(run)")
            #expect(try await query("SELECT id, name FROM Item") == "2|new")
            #expect(
                try await query("SELECT path FROM bmo_unknown_fields") == "other", "the deletion is a known member")
        }

        @Test func `the tap gets its configuration in a file of its own, in the configuration's folder`() async throws {
            try writeTap(
                #"schema; state; stat -L -c %a "$2" >mode; cat "$2" >given; pwd >place; env >variables; ls "$(dirname "$2")""#
                    + " >/dev/null")
            try writeConfig(
                """
                command: [./tap]
                    tap_config: {key: {env: TAP_TOKEN}, deep: {list: [1, {file: secret}, true], text: "no"}}
                    environment: {HTTPS_PROXY: "http://proxy"}
                    catalog: none
                """, section: "stream: items")
            try folder.write("from a file\n", to: "secret")
            try await expectSync(0, ["Item tap finished 1 0 0 0 0 0 0"])
            func text(_ name: String) throws -> String {
                try String(contentsOfFile: folder.appending(name), encoding: .utf8)
            }
            #expect(try text("mode") == "600\n")
            #expect(try text("given") == #"{"key":"sesame42","deep":{"list":[1,"from a file",true],"text":"no"}}"#)
            #expect(try text("place").hasSuffix(folder.path + "\n"))
            #expect(try text("variables").contains("HTTPS_PROXY=http://proxy"))
            #expect(try !text("variables").contains("TAP_TOKEN"))
        }

        @Test(arguments: ["memory", "folder"])
        func `nothing of a tap's configuration is left on the disk when all are killed`(place: String) async throws {
            try writeTap(#"cat "$2" >given; echo "$2" >path; schema; echo $$ >pid; sleep 600"#)
            try writeConfig(
                "command: [./tap]\n    files: \(place)\n    tap_config: {key: {env: TAP_TOKEN}}\n    catalog: none",
                section: "stream: items")
            let temporary = folder.appending("temporary")
            try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
            let sync = try start(["sync"], environment: ["TMPDIR": temporary])
            _ = try await eventually("the tap runs") {
                FileManager.default.fileExists(atPath: folder.appending("pid")) ? true : nil
            }
            sync.signal(SIGKILL)
            _ = try await sync.finish()
            let given = try String(contentsOfFile: folder.appending("given"), encoding: .utf8)
            #expect(given == #"{"key":"sesame42"}"#)
            let path = try String(contentsOfFile: folder.appending("path"), encoding: .utf8)
            #expect(path.hasPrefix(place == "memory" ? "/proc/self/fd/" : temporary), "\(path)")
            let found = try await ProcessRun.run("grep", ["-rl", "sesame42", temporary])
            // In a folder it stays until the next host that starts a bridge.
            #expect(found.output.isEmpty == (place == "memory"), "\(found)")
        }

        @Test func `a tap ends with the sync that is killed`() async throws {
            try writeTap("schema; echo $$ >pid; sleep 600")
            try writeConfig("command: ./tap\n    catalog: none", section: "stream: items")
            let sync = try start(["sync"])
            let pid = try await eventually("the tap runs") {
                (try? String(contentsOfFile: folder.appending("pid"), encoding: .utf8))
                    .flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
            }
            sync.signal(SIGKILL)
            _ = try await sync.finish()
            _ = try await eventually("the tap is gone") { kill(pid, 0) != 0 ? true : nil }
        }

        // MARK: the workspace

        var environment: [String: String] {
            ["TAP_TOKEN": "sesame42", "LONG_TOKEN": "LONGSECRET-abcdefghijklmnopqrstuvwxyz"]
        }

        private static func tap(_ name: String) -> String {
            let variables = ProcessInfo.processInfo.environment
            let cache = variables["XDG_CACHE_HOME"] ?? (variables["HOME"] ?? "") + "/.cache"
            return "\(cache)/bmo/test-taps/\(name)/bin/\(name)"
        }

        private func writeConfig(_ bridge: String, entity: String = "", section: String, more: String = "") throws {
            try folder.write(
                """
                version: 1
                bridges:
                  tap:
                    isolation: external
                    \(bridge)
                entities:
                  Item:
                    bridge: tap
                    key: id
                    \(entity.isEmpty ? "unique: key" : entity)
                    attributes: {id: integer, name: text, price: decimal}
                    singer: {\(section)}
                \(more)
                """.replacing("    unique: key\n", with: ""), to: "bmo.yml")
        }

        /// A tap as a shell script, with words for the messages.
        private func writeTap(_ script: String, to name: String = "tap") throws {
            try folder.write(
                """
                #!/bin/bash
                schema() { echo '{"type": "SCHEMA", "stream": "items", "schema": {}, "key_properties": ["id"]}'; }
                record() { echo "{\\"type\\": \\"RECORD\\", \\"stream\\": \\"items\\", \\"record\\": {\\"id\\": $1}}"; }
                state() { echo '{"type": "STATE", "value": {"bookmarks": {}}}'; }
                cut() { printf '{"type": "STATE", "val'; }
                \(script)

                """, to: name)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: folder.appending(name))
        }

        private func publish(_ ids: ClosedRange<Int>) throws {
            try FileManager.default.createDirectory(
                atPath: folder.appending("site"), withIntermediateDirectories: true)
            let users = ids.map { #"{"id": \#($0), "name": "n\#($0)", "price": \#($0).25}"# }.joined(separator: ",")
            try folder.write(#"{"data": [\#(users)]}"#, to: "site/users.json")
        }

        /// Syncs, and expects the lines of the table without their times.
        private func expectSync(
            _ exitCode: Int32, _ rows: [String], sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            let run = try await bmo("sync")
            #expect(run.exitCode == exitCode, "\(run)", sourceLocation: sourceLocation)
            let table = run.words.filter { $0.contains(" tap ") }
                .map { $0.split(separator: " ").prefix(10).joined(separator: " ") }
            #expect(table == rows, "\(run)", sourceLocation: sourceLocation)
        }
    }
}
