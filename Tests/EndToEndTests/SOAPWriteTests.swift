import Foundation
import ImportTestSupport
import TestSupport
import Testing

extension EndToEndTests {
    /// Edits that go to PHP's SoapServer, and what PHP's own client then sees there.
    @Suite struct SOAPWriteTests {
        private func notes() async throws -> RemoteWorkspace<RemoteServer> {
            let server = try await RemoteServer.soapNotes()
            let place = try RemoteWorkspace(of: server, in: server.folder)
            try place.folder.write(
                """
                version: 1
                bridges: {notes: {plugin: soap, options: {wsdl: "\(place.url)/service?wsdl", port: Notes11, timeout: 3}}}
                entities:
                  Note:
                    bridge: notes
                    key: id
                    writable: true
                    match: [text]
                    attributes:
                      id: {type: integer, write: false}
                      version: {type: integer, write: false}
                      text: text
                      price: decimal
                      due: timestamp
                    read_one:
                      operation: GetNote
                      records: GetNoteResponse/note
                      input: {noteId: "{parent.id}"}
                      faults: [{detail: NotFound, action: not_found}]
                    soap:
                      operation: ListNotes
                      records: ListNotesResponse/notes/note
                      faults: [{detail: Conflict, action: conflict}, {detail: NotFound, action: not_found}]
                      write:
                        create: {operation: AddNote, values: note}
                        update: {operation: UpdateNote, values: note, key: noteId}
                        delete: {operation: DeleteNote, key: noteId}
                """, to: "bmo.yml")
            return place
        }

        @Test func `a note is created, changed, fought over and deleted through SOAP`() async throws {
            let place = try await notes()
            let created = try await place.bmo(
                "create", "Note", "--set", "text=a & b", "--set", "price=10.50", "--set", "due=2026-11-21T10:00:00Z",
                "--push")
            #expect(created.exitCode == 0, "\(created)")
            #expect(created.output.contains("Note 1 created (was -1)"), "\(created)")
            let note = try await place.note(1)
            #expect(
                note.contains(#""id":1,"version":1,"text":"a & b","price":"10.50","due":"2026-11-21T10:00:00Z""#),
                "\(note)")
            #expect(try place.rows("SELECT id, version, price FROM Note") == [["1", "1", "10.50"]])

            let updated = try await place.bmo("update", "Note", "1", "--set", "text=c", "--push")
            #expect(updated.exitCode == 0, "\(updated)")
            #expect(try await place.note(1).contains(#""version":2,"text":"c","price":"10.50""#), "the rest stays")

            // Somebody else changes the price: merged. Then the text: that is for a person.
            _ = try await place.php(
                "$client->UpdateNote(['noteId' => 1, 'note' => ['text' => 'c', 'price' => '11']]);")
            let merged = try await place.bmo("update", "Note", "1", "--set", "text=d", "--push")
            #expect(merged.exitCode == 0, "\(merged)")
            #expect(try await place.note(1).contains(#""version":4,"text":"d","price":"11""#))
            _ = try await place.php("$client->UpdateNote(['noteId' => 1, 'note' => ['text' => 'theirs']]);")
            let conflict = try await place.bmo("update", "Note", "1", "--set", "text=ours", "--push")
            #expect(conflict.exitCode == 1 && conflict.output.contains("conflict"), "\(conflict)")
            #expect(try await place.note(1).contains("theirs"))
            #expect(try await place.bmo("resolve", "Note", "1", "--take", "local").exitCode == 0)
            let sent = try await place.bmo("push")
            #expect(sent.exitCode == 0, "\(sent)")
            #expect(try await place.note(1).contains("ours"))

            let deleted = try await place.bmo("delete", "Note", "1", "--push")
            #expect(deleted.exitCode == 0, "\(deleted)")
            #expect(try await place.note(1) == "no such note")
            #expect(try place.rows("SELECT * FROM Note").isEmpty)
        }

        @Test func `a dry run shows the envelope, with what the service has, and what will be refused`() async throws {
            let place = try await notes()
            _ = try await place.php("$client->AddNote(['note' => ['text' => 'a', 'tag' => ['x', 'y']]]);")
            #expect(try await place.bmo("sync").exitCode == 0)
            #expect(try await place.bmo("update", "Note", "1", "--set", "text=b").exitCode == 0)
            let shown = try await place.bmo("push", "--dry-run")
            #expect(shown.exitCode == 0 && shown.output.contains("POST \(place.url)/v11"), "\(shown)")
            #expect(shown.output.contains("<n1:text>b</n1:text><n1:tag>x</n1:tag><n1:tag>y</n1:tag>"), "\(shown)")
            #expect(shown.output.contains("1 edit would be sent"), "\(shown)")
            #expect(try await place.note(1).contains(#""version":1,"text":"a""#), "nothing was sent")
            #expect(try await place.bmo("push").exitCode == 0)
            #expect(try await place.note(1).contains(#""version":2,"text":"b","tag":["x","y"]"#))
            // What the schema requires.
            _ = try await place.bmo("create", "Note", "--set", "price=1")
            let lacking = try await place.bmo("push", "--dry-run")
            #expect(lacking.output.contains("will be refused: the schema requires AddNote/note/text"), "\(lacking)")
            let refused = try await place.bmo("push")
            #expect(refused.exitCode == 1 && refused.output.contains("refused"), "\(refused)")
            #expect(try await place.php("echo $client->ListNotes([])->total;") == "1")
        }

        @Test func `a fault refuses, and a lost answer is looked for`() async throws {
            let place = try await notes()
            let refused = try await place.bmo("create", "Note", "--set", "text=fail", "--or-rollback")
            #expect(refused.exitCode == 1 && refused.output.contains("the disk is full"), "\(refused)")
            #expect(try place.rows("SELECT * FROM Note").isEmpty)
            // Kept by the service, which ends without an answer.
            let silent = try await place.bmo("create", "Note", "--set", "text=silent", "--push")
            #expect(silent.exitCode == 0, "\(silent)")
            #expect(try await place.php("echo $client->ListNotes([])->total;") == "1")
            #expect(try place.rows("SELECT id, text FROM Note") == [["1", "silent"]])
        }
    }
}

extension RemoteWorkspace where Remote == RemoteServer {
    /// What PHP's client says to `code`, which has it as `$client`.
    fileprivate func php(_ code: String) async throws -> String {
        let script = """
            $client = new SoapClient('\(url)/service?wsdl', ['cache_wsdl' => WSDL_CACHE_NONE]);
            try { \(code) } catch (SoapFault $fault) { echo $fault->getMessage(); }
            """
        return try await ProcessRun.run("php", ["-r", script]).output
    }

    fileprivate func note(_ id: Int) async throws -> String {
        try await php("echo json_encode($client->GetNote(['noteId' => \(id)])->note);")
    }

    fileprivate func rows(_ sql: String) throws -> [[String]] {
        try SQLiteFile(folder.appending("bmo.sqlite")).plainRows(sql)
    }
}
