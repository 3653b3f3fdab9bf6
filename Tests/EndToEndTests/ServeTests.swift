import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// `bmo serve`: each page over a database that real syncs filled, and each action.
    @Suite struct ServeTests {
        private func site() async throws -> RemoteWorkspace<RemoteServer> {
            let site = try await RemoteWorkspace.site()
            try site.publish(
                countries: #"""
                    [{"code": "NO", "name": "Norway", "area": 385.2, "cities": [{"id": 1, "name": "Oslo"}, 2], "languages": ["nb", "nn"]},
                     {"code": "SE", "name": "Sweden", "eu": true}, {"code": "a/b?c", "name": "Slash"}]
                    """#, cities: #"[{"id": 3, "name": "Malmö", "country": "SE"}, {"id": "x"}]"#)
            _ = try await site.bmo("sync")
            try site.publish(
                countries:
                    #"[{"code": "NO", "name": "Norge", "cities": [1, 2], "languages": ["nn"]}, {"code": "SE"}, {"code": "a/b?c"}]"#,
                cities: #"[{"id": 3, "name": "Malmö", "country": "SE"}, {"id": "x"}]"#)
            _ = try await site.bmo("sync", "Country")
            return site
        }

        @Test func `a changed configuration is followed, in the same session, and a fault is not`() async throws {
            let site = try await site()
            let page = try await PageBrowser(in: site.folder.path)
            #expect(try await page.page("/entity/City").contains("Malmö"))
            let file = site.folder.appending("bmo.yml")
            let config = try String(contentsOfFile: file, encoding: .utf8)
            try site.folder.write(config.replacing("path: /cities.json", with: "paths: /cities.json"), to: "bmo.yml")
            try await eventually("the fault is told") {
                page.process.errorOutput.contains("cannot be used as it is now")
            }
            #expect(try await page.page("/entity/City").contains("Malmö"), "it goes on as before")
            let shown = try await page.page("/config")
            #expect(
                shown.contains(
                    "It follows changes to the file within a few seconds; while the file has faults, it goes on"))
            try site.folder.write(
                config + """
                      Town:
                        bridge: site
                        key: id
                        attributes: {id: integer, name: text}
                        rest: {path: /cities.json}

                    """, to: "bmo.yml")
            try await eventually("the new one is followed") {
                page.process.errorOutput.contains("the web interface goes on with the new configuration")
            }
            #expect(try await page.get("/entity/Town").status != 404)
            #expect(try await page.post("/sync").status == 303)
            try await eventually("it was synced") {
                let list = try await page.get("/entity/Town")
                return list.status == 200 && list.body.contains("Malmö")
            }
        }

        @Test func `the pages show what the commands show`() async throws {
            let site = try await site()
            let page = try await PageBrowser(in: site.folder.path)

            let overview = try await page.page("/")
            #expect(overview.contains("City: 1 record could not be imported."))
            #expect(overview.contains(#"<a href="/entity/Country">Country</a>"#))

            let list = try await page.page("/entity/Country")
            #expect(
                list.contains("Norge") && list.contains(#"<a href="/object/Country/a%2Fb%3Fc"><bdi>a/b?c</bdi></a>"#))
            let filtered = try await page.page("/entity/Country?where=name~N%25&count=1")
            #expect(filtered.contains("They match 1 row.") && !filtered.contains("Sweden"))
            let byForm = try await page.page("/entity/City?field=id&is=%3E&value=2&sort=-id")
            #expect(byForm.contains("Malmö") && !byForm.contains("Oslo"))
            #expect(byForm.contains(#"<a href="/object/Country/SE">"#), "a reference is a link")

            let first = try await page.page("/entity/Country?limit=2")
            let next = try #require(first.firstMatch(of: /rel="next" href="([^"]+)"/)).output.1
            let second = try await page.page(String(next.replacing("&amp;", with: "&")))
            #expect(second.contains("a/b?c") && !second.contains("Norge") && !second.contains(#"rel="next""#))

            let object = try await page.page("/object/Country/NO")
            #expect(object.contains("<h1>Country NO: Norge</h1>") && object.contains("site, its own listing"))
            #expect(object.contains(#"<div class="old"><bdi>Norway</bdi></div>"#), "the history has the old value")
            #expect(object.contains(#"<a href="/object/City/1"><bdi>Oslo (1)</bdi></a>"#))
            #expect(try await page.page("/object/Country/a%2Fb%3Fc").contains("<h1>Country a/b?c"))
            #expect(try await page.page("/object/City/1").contains(#"<a href="/object/Country/NO">"#))

            #expect(try await page.page("/runs").contains(#"<a href="/runs/2">2</a>"#))
            let run = try await page.page("/runs/2?entity=Country")
            #expect(
                run.contains(#"<code>name</code></td><td data-label="old"><div class="old"><bdi>Norway</bdi></div>"#),
                "\(run)")
            let runs = try await page.page("/runs?entity=Country")
            #expect(runs.contains(#"<a href="/runs/2?entity=Country">2</a>"#) && runs.contains("Rows after the run"))
            #expect(runs.contains("at most 3, at last 3."), "\(runs)")
            #expect(try await page.get("/runs?entity=Nowhere").status == 404)
            #expect(try await page.page("/decide?entity=City").contains("&quot;x&quot;"))
            #expect(try await page.page("/plan").contains("/countries.json"))
            let model = try await page.page("/model")
            #expect(model.contains("<svg viewBox=") && model.contains(#"<path class="edge""#))
            #expect(try await page.page("/config").contains("None, as far as bmo can tell"))
        }

        @Test func `rows come as JSON and CSV, a page at a time`() async throws {
            let site = try await site()
            let page = try await PageBrowser(in: site.folder.path)
            let json = try await page.get("/entity/Country.json?limit=1&sort=-code")
            #expect(json.header("Content-Type") == "application/json")
            let rows = try JSONSerialization.jsonObject(with: Data(json.body.utf8)) as? [[String: Any]]
            #expect(rows?.count == 1 && rows?.first?["code"] as? String == "a/b?c", "\(json)")
            #expect(
                json.header("Link")
                    == #"</entity/Country.json?limit=1&sort=-code&after=a%2Fb%3Fc>; rel="next""#, "\(json)")
            let rest = try await page.get("/entity/Country.json?limit=1&sort=-code&after=a%2Fb%3Fc")
            #expect(rest.body.contains(#""code":"SE""#), "\(rest)")
            let named = try await page.get("/entity/Country.json?limit=1&sort=name")
            let link = try #require(named.header("Link")?.firstMatch(of: /^<(.*&at=.*)>/), "\(named)")
            let second = try await page.get(String(link.output.1))
            #expect(second.status == 200 && second.body != named.body, "\(second)")
            let gone = "sort=name&after=gone"
            #expect(try await page.get("/entity/Country.csv?\(gone)").status == 410)
            #expect(try await page.page("/entity/Country?\(gone)").contains("so these are the first rows"))
            let csv = try await page.get("/entity/City.csv?where=id%3D3")
            #expect(csv.body == "id,name,country\n3,Malmö,SE\n", "\(csv)")
        }

        @Test func `metrics and health are for machines`() async throws {
            let site = try await site()
            let page = try await PageBrowser(
                in: site.folder.path, ["--password", "env:PAGE_WORD"],
                environment: ["PAGE_WORD": "correct horse battery"], signsIn: false)
            #expect(page.token.isEmpty, "a log of the output does not begin sessions")
            #expect(try await page.get("/health").body == "{\"status\":\"ok\"}\n")
            #expect(try await page.get("/metrics").status == 401)
            #expect(try await page.get("/metrics", "-H", "Authorization: Bearer wrong").status == 401)
            let metrics = try await page.get("/metrics", "-H", "Authorization: Bearer correct horse battery")
            #expect(metrics.body.contains("\nbmo_rows{entity=\"Country\"} 3\n"), "\(metrics)")
            let wrong = try await PageBrowser.curl(["-d", "password=wrong", page.origin + "/login"])
            #expect(wrong.status == 401 && wrong.header("Set-Cookie") == nil)
            let right = try await PageBrowser.curl(["-d", "password=correct horse battery", page.origin + "/login"])
            #expect(right.status == 303 && right.header("Set-Cookie") != nil)
        }

        @Test func `an undo is previewed, then done`() async throws {
            let site = try await site()
            let page = try await PageBrowser(in: site.folder.path)
            let before = try await site.tables()
            let preview = try await page.post("/runs/2/undo", ["preview": "1"])
            #expect(preview.status == 200 && preview.body.contains("<bdi>Norway</bdi>"), "\(preview)")
            #expect(try await site.tables() == before)
            let done = try await page.act("/runs/2/undo")
            #expect(done.contains("Run 2 is undone by run 3."))
            #expect(try await site.tables() != before)
            let again = try await page.post("/runs/2/undo")
            #expect(again.status == 400 && again.body.contains("already undone by run 3"), "\(again)")
        }

        @Test func `quarantined records are tried again, and a sync is started`() async throws {
            let site = try await site()
            let page = try await PageBrowser(in: site.folder.path)
            #expect(
                try await page.act("/decide/quarantine", ["entity": "City"]).contains(
                    "0 records fit now; 1 in quarantine."))
            try site.publish(countries: #"[{"code": "FI", "name": "Finland"}]"#, cities: "[]")
            #expect(try await page.act("/sync", ["entity": "Country"]).contains("Sync of Country"))
            try await eventually("the sync is over") {
                let overview = try await page.page("/")
                return overview.contains("Sync of Country: finished")
                    && overview.contains("Country: finished, 1 inserted")

            }
            #expect(try await page.page("/entity/Country").contains("Finland"))
        }

        @Test func `an edit waits in the outbox, is sent, and can be dropped`() async throws {
            let place = try RemoteWorkspace.notes()
            try await place.expect("create", "Note", "--set", "text=first", "--push")
            let page = try await PageBrowser(in: place.folder.path)
            let form = try await page.page("/object/Note/1")
            #expect(form.contains(#"name="v.text" value="first""#) && !form.contains(#"name="v.etag""#), "\(form)")

            let fields: KeyValuePairs = [
                "v.text": "<b>second</b>", "w.text": "first", "v.city": "", "w.city": "", "wn.city": "1", "n.city": "1",
            ]
            let saved = try await page.act("/object/Note/1", fields)
            #expect(
                saved.contains("Saved here: text. Edit 2 waits to be sent.")
                    && saved.contains("&lt;b&gt;second&lt;/b&gt;"))
            #expect(try place.value("SELECT text FROM Note WHERE city IS NULL") == "<b>second</b>")
            let untouched = try await page.act("/object/Note/1", ["v.text": "x", "w.text": "x"])
            #expect(untouched.contains("Nothing had to be changed."))
            let old = try #require(try await page.page("/decide").value(of: "seen"))
            // The edit gets another value, which the page above did not show.
            _ = try await page.act("/object/Note/1", ["v.city": "Lyon", "wn.city": "1", "n.city": "1"])
            let stale = try await page.post("/decide/outbox", ["id": "2", "do": "drop", "seen": old])
            #expect(stale.status == 409 && stale.body.contains("Edit 2 changed after the page was loaded"), "\(stale)")
            let now = try #require(try await page.page("/decide").value(of: "seen"))
            let dropped = try await page.act("/decide/outbox", ["id": "2", "do": "drop", "seen": now])
            #expect(dropped.contains("Edit 2 was dropped"))
            #expect(try place.value("SELECT text FROM Note WHERE city IS NULL") == "first")

            _ = try await page.act("/object/Note/1", ["v.text": "third", "w.text": "first"])
            _ = try await page.act("/push")
            try await eventually("the server has it") { try await place.server.content("notes/1").contains("third") }
            let created = try await page.act("/new/Note", ["v.text": "new one", "wn.text": "1", "n.text": "1"])
            #expect(created.contains("Created here."), "\(created)")
            #expect(try await page.post("/object/Note/1", ["do": "delete", "seen": "x"]).status == 409)
            let seen = try #require(try await page.page("/object/Note/1").value(of: "seen"))
            let deleted = try await page.act("/object/Note/1", ["do": "delete", "seen": seen])
            #expect(deleted.contains("Deleted here"))
            #expect(try place.value("SELECT count(*) FROM bmo_outbox WHERE operation = 'delete'") == "1")
            let bad = try await page.post("/new/Note", ["v.topic": "x"])
            #expect(bad.status == 400 && bad.body.contains("topic: "), "\(bad)")
        }

        @Test func `a form that is sent twice is carried out once`() async throws {
            let place = try RemoteWorkspace.notes()
            try await place.expect("sync", "-q")
            let page = try await PageBrowser(in: place.folder.path)
            #expect(try await page.page("/new/Note").value(of: "once")?.isEmpty == false)
            let form: KeyValuePairs = ["once": "a1", "v.text": "new", "wn.text": "1", "n.text": "1"]
            let first = try await page.post("/new/Note", form)
            let second = try await page.post("/new/Note", form)
            let made = try #require(first.header("Location"))
            #expect(first.status == 303 && second.status == 303 && second.header("Location") == made)
            #expect(try await page.page(made).contains("created this object once"))
            #expect(try place.value("SELECT count(*) FROM Note") == "1")
            // The same page with other values, after the browser's "back".
            _ = try await page.act("/new/Note", ["once": "a1", "v.text": "other", "wn.text": "1", "n.text": "1"])
            #expect(try place.value("SELECT count(*) FROM Note") == "2")

            let edit: KeyValuePairs = ["v.text": "edited", "w.text": "new"]
            #expect(try await page.act(made, edit).contains("Saved here: text."))
            #expect(try await page.act(made, edit).contains("Nothing had to be changed."))
        }

        @Test func `the plan says what waits, and how many edits it leaves out`() async throws {
            let place = try RemoteWorkspace.notes()
            let lines = (1...201).map { #"{"text": "note \#($0)"}"# }
            try place.folder.write(lines.joined(separator: "\n") + "\n", to: "notes.ndjson")
            try await place.expect("create", "Note", "--values", "notes.ndjson")
            let next = try place.value("SELECT strftime('%Y-%m-%dT%H:%M:%f000Z', 'now', '+1 hour')")
            _ = try place.rows("UPDATE bmo_outbox SET not_before = '\(next)', attempts = 1 WHERE id = 1")
            let page = try await PageBrowser(in: place.folder.path)
            let plan = try await page.page("/plan")
            #expect(plan.contains("The first 200 of 201 are shown.") && plan.contains("note 200"), "\(plan)")
            #expect(plan.contains("not sent now: next try at \(next)") && !plan.contains("note 201"))
            #expect(try await page.page("/decide").contains("<p>Next try at "))
        }

        @Test func `a sync that cannot open the database counts as failed`() async throws {
            let site = try await site()
            let page = try await PageBrowser(in: site.folder.path)
            let kept = site.folder.appending("kept.sqlite")
            try FileManager.default.moveItem(atPath: site.database, toPath: kept)
            try site.folder.write(String(repeating: "garbage ", count: 2000), to: "bmo.sqlite")
            #expect(try await page.post("/sync").status == 303)
            try await eventually("the sync has failed") {
                try await page.get("/events", "-m", "2").body.contains(#""outcome":"failed""#)
            }
            try FileManager.default.removeItem(atPath: site.database)
            try FileManager.default.moveItem(atPath: kept, toPath: site.database)
            let metrics = try await page.page("/metrics")
            #expect(metrics.contains("bmo_sync_failures_total{code=\"database\"} 1\n"), "\(metrics)")
        }

        @Test func `a conflict shows its three values and is decided`() async throws {
            let place = try RemoteWorkspace.notes()
            try await place.expect("create", "Note", "--set", "text=base", "--push")
            try await place.expect("update", "Note", "1", "--set", "text=here")
            try await place.server.change(1, #"{"text": "there"}"#)
            _ = try await place.bmo("sync")
            let page = try await PageBrowser(in: place.folder.path)
            #expect(try await page.page("/").contains("1 value was changed both here and on the remote."))
            let decide = try await page.page("/decide")
            for value in ["base", "here", "there"] { #expect(decide.contains("<bdi>\(value)</bdi>")) }
            let seen = try #require(decide.value(of: "seen"))
            let fields: KeyValuePairs = [
                "entity": "Note", "key": "1", "column": "text", "take": "remote", "seen": seen,
            ]
            let old: KeyValuePairs = ["entity": "Note", "key": "1", "column": "text", "take": "remote", "seen": "x"]
            #expect(try await page.post("/decide/conflict", old).status == 409)
            #expect(try await page.act("/decide/conflict", fields).contains("The remote&#39;s value is taken."))
            #expect(try place.value("SELECT text FROM Note") == "there")
            #expect(try await page.post("/decide/conflict", fields).status == 409)
        }

        @Test func `a deletion that was held is previewed, then done`() async throws {
            let site = try await RemoteWorkspace.site()
            let many = (1...40).map { #"{"id": \#($0), "name": "c"}"# }.joined(separator: ",")
            try site.publish(cities: "[\(many)]")
            try await site.expectSuccess("sync", "City")
            try site.publish(cities: #"[{"id": 1, "name": "c"}]"#)
            _ = try await site.bmo("sync", "City")
            let page = try await PageBrowser(in: site.folder.path)
            #expect(
                try await page.page("/").contains(
                    "City: the sync would have deleted too many rows, so it deleted none."))
            _ = try await page.act("/sync/preview", ["entity": "City"])
            try await eventually("the preview is there") {
                try await page.page("/decide").contains("What would change")
            }
            #expect(try await page.page("/decide").contains(#"<a href="/object/City/40">"#))
            #expect(try await page.page("/entity/City").contains("40 rows"))
            #expect(try await page.post("/sync/delete", ["entity": "City"]).status == 400)
            let shown = try await eventually("the preview is over") { try await page.page("/decide").value(of: "held") }
            #expect(shown == "39")
            // Meanwhile the remote has lost one more.
            try site.publish(cities: "[]")
            _ = try await page.act("/sync/delete", ["entity": "City", "held": shown])
            try await eventually("they are held again") {
                let decide = try await page.page("/decide")
                return decide.contains("more than the 39 that were agreed to") && decide.value(of: "held") == "40"
            }
            #expect(try await page.page("/entity/City").contains("40 rows"))
            try site.publish(cities: #"[{"id": 1, "name": "c"}]"#)
            _ = try await page.act("/sync/delete", ["entity": "City", "held": "40"])
            try await eventually("they are gone") {
                try await page.page("/entity/City").contains("<p>1 row.")
            }
        }

        @Test func `a held deletion that an earlier version reported waits for the next sync`() async throws {
            let site = try await RemoteWorkspace.site()
            let many = (1...40).map { #"{"id": \#($0), "name": "c"}"# }.joined(separator: ",")
            try site.publish(cities: "[\(many)]")
            try await site.expectSuccess("sync", "City")
            try site.publish(cities: #"[{"id": 1, "name": "c"}]"#)
            _ = try await site.bmo("sync", "City")
            _ = try await ProcessRun.run(
                "sqlite3",
                [site.database, "UPDATE bmo_runs SET summary = json_remove(summary, '$.entities[0].error.held')"])
            let page = try await PageBrowser(in: site.folder.path)
            let old = try await page.page("/decide")
            #expect(old.contains("After the next sync, the rows can be deleted here."))
            #expect(!old.contains("Sync and delete"))
            _ = try await site.bmo("sync", "City")
            let new = try await page.page("/decide")
            #expect(!new.contains("After the next sync") && new.value(of: "held") == "39")
        }

        @Test(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
        func `pages, an undo and a decision work over PostgreSQL`() async throws {
            let site = try await RemoteWorkspace.site()
            try site.configure(more: "database: \(PostgreSQLServer.shared.get().newLocation())")
            try site.publish(
                countries:
                    #"[{"code": "NO", "name": "Norway", "cities": [{"id": 1, "name": "Oslo"}]}, {"code": "SE"}]"#,
                cities: #"[{"id": "x"}]"#)
            _ = try await site.bmo("sync", "Country", "City")
            try site.publish(countries: #"[{"code": "NO", "name": "Norge", "cities": [1]}, {"code": "SE"}]"#)
            try await site.expectSuccess("sync", "Country")
            let page = try await PageBrowser(in: site.folder.path)
            #expect(try await page.page("/").contains("City: 1 record could not be imported."))
            #expect(try await page.page("/entity/Country?sort=-name&limit=1").contains(#"rel="next""#))
            let object = try await page.page("/object/Country/NO")
            #expect(object.contains("<h1>Country NO: Norge</h1>") && object.contains("<bdi>Oslo (1)</bdi>"))
            #expect(try await page.page("/runs/2").contains("<bdi>Norway</bdi>"))
            #expect(try await page.act("/decide/quarantine").contains("1 in quarantine."))
            #expect(try await page.act("/runs/2/undo").contains("Run 2 is undone by run 3."))
            #expect(try await page.page("/entity/Country?where=code%3DNO").contains("Norway"))
        }
    }
}
