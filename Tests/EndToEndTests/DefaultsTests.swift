import Foundation
import ImportTestSupport
import TestSupport
import Testing

extension EndToEndTests {
    /// What a file says once for all entities, and what it calls columns and views.
    @Suite struct DefaultsTests {
        @Test func `defaults stand for what an entity does not say`() async throws {
            let site = try await RemoteWorkspace.site()
            try site.write(
                """
                version: 1
                database: bmo.sqlite
                bridges: {api: {plugin: rest, options: {url: "@URL@"}}}
                defaults:
                  bridge: api
                  key: id
                  deletes: {mode: soft}
                  attributes: {id: integer, name: text}
                  rest: {records: $.items, paging: none}
                entities:
                  Author: {rest: {path: /authors.json}}
                  Post:
                    deletes: hard
                    attributes: {name: {type: text, from: title}, at: date}
                    relationships: {author: {to: Author, from: author.id, column: author_id}}
                    rest: {path: /posts.json, records: $}
                """)
            try site.publish(#"{"items": [{"id": 1, "name": "Ann"}]}"#, as: "authors.json")
            try site.publish(#"[{"id": 5, "title": "t", "at": "2024-02-29", "author": {"id": 1}}]"#, as: "posts.json")
            try await site.expectSuccess("check")
            try await site.expectSuccess("sync")
            #expect(try await site.query("SELECT id, name, deleted_at FROM Author") == "1|Ann|")
            #expect(try await site.query("SELECT id, name, at, author_id FROM Post") == "5|t|2024-02-29|1")
            #expect(
                try await site.query("SELECT \"from\", \"to\" FROM pragma_foreign_key_list('Post')") == "author_id|id"
            )
            #expect(try await site.expectSuccess("list", "Post", "--where", "author_id=1").output.contains("t"))
        }

        @Test func `a default that no entity can have is a fault`() async throws {
            let site = try await RemoteWorkspace.site()
            try site.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "@URL@"}}}
                defaults: {extends: A, brigde: api}
                entities:
                  A: {bridge: api, key: id, attributes: {id: integer}, rest: {path: /a}}
                """)
            let check = try await site.bmo("check")
            #expect(check.exitCode == 2)
            #expect(check.errorOutput.contains("\"extends\" cannot be a default of all entities"), "\(check)")
            #expect(
                check.errorOutput.contains("unknown key \"brigde\" of \"defaults\"; did you mean \"bridge\"?"),
                "\(check)")
        }

        @Test func `a column gets its new name with its values`() async throws {
            let site = try await RemoteWorkspace.site()
            func write(_ column: String) throws {
                try site.write(
                    """
                    version: 1
                    database: bmo.sqlite
                    bridges: {api: {plugin: rest, options: {url: "@URL@"}}}
                    entities:
                      Author: {bridge: api, key: id, attributes: {id: integer}, rest: {path: /authors.json}}
                      Post:
                        bridge: api
                        key: id
                        attributes: {id: integer}
                        relationships: {author: {to: Author\(column)}}
                        rest: {path: /posts.json}
                    """)
            }
            try write("")
            try site.publish(#"[{"id": 1}]"#, as: "authors.json")
            try site.publish(#"[{"id": 5, "author": 1}]"#, as: "posts.json")
            try await site.expectSuccess("sync")
            try write(", column: author_id")
            try site.publish("[]", as: "authors.json")
            try await site.expectSuccess("sync", "Author", "--allow-deletes")
            #expect(try await site.query("SELECT author_id FROM Post") == "1", "no other scan was needed")
            try write(", column: [a, b]")
            let check = try await site.bmo("check")
            #expect(check.errorOutput.contains("has 2 columns, and the key of \"Author\" has 1 attribute"), "\(check)")
        }

        @Test func `a link table and its columns have names of their own`() async throws {
            let site = try await RemoteWorkspace.site()
            func write(_ names: String) throws {
                try site.write(
                    """
                    version: 1
                    database: bmo.sqlite
                    bridges: {api: {plugin: rest, options: {url: "@URL@"}}}
                    entities:
                      Tag:
                        bridge: api
                        key: name
                        attributes: {name: text}
                        rest: {path: /tags.json}
                      Post:
                        bridge: api
                        key: id
                        attributes: {id: integer}
                        relationships: {labels: {many: Tag, from: tags\(names)}}
                        rest: {path: /posts.json}
                    """)
            }
            try write("")
            try site.publish(#"[{"name": "a"}, {"name": "b"}]"#, as: "tags.json")
            try site.publish(#"[{"id": 5, "tags": ["b", "a"]}]"#, as: "posts.json")
            try await site.expectSuccess("sync")
            try write(", table: post_tags, columns: [post_id, tag_id]")
            try await site.expectSuccess("sync", "Tag")
            let rows = "SELECT post_id, position, tag_id FROM post_tags ORDER BY position"
            #expect(try await site.query(rows) == "5|0|b\n5|1|a", "the table was renamed with its rows")
            try site.publish(#"[{"id": 5, "tags": ["a"]}]"#, as: "posts.json")
            try await site.expectSuccess("sync")
            #expect(try await site.query(rows) == "5|0|a")
            try site.publish(#"[{"name": "b"}]"#, as: "tags.json")
            try await site.expectSuccess("sync", "--allow-deletes")
            #expect(try await site.query("PRAGMA foreign_key_check") == "(no rows)")
            try write(", columns: [a, position]")
            #expect(try await site.bmo("check").errorOutput.contains("must be two names, neither of them position"))
        }

        @Test func `a view has the rows that are not deleted`() async throws {
            let site = try await RemoteWorkspace.site()
            func write(_ view: String, more: String = "") throws {
                try site.write(
                    """
                    version: 1
                    database: bmo.sqlite
                    bridges: {api: {plugin: rest, options: {url: "@URL@"}}}
                    entities:
                      Post:
                        bridge: api
                        key: id
                        deletes: {mode: soft\(view)}
                        attributes: {id: integer\(more)}
                        rest: {path: /posts.json}
                    """)
            }
            try write(", view: live_posts")
            try site.publish(#"[{"id": 5, "name": "x"}, {"id": 6}]"#, as: "posts.json")
            try await site.expectSuccess("sync")
            try site.publish(#"[{"id": 5, "name": "x"}]"#, as: "posts.json")
            try await site.expectSuccess("sync")
            #expect(try await site.query("SELECT id FROM live_posts") == "5")
            #expect(try await site.query("SELECT count(*) FROM Post") == "2")
            try write(", view: posts_now", more: ", name: text")
            try await site.expectSuccess("sync")
            #expect(try await site.query("SELECT id, name FROM posts_now") == "5|x", "it has new columns")
            let views = "SELECT group_concat(name) FROM sqlite_schema WHERE type = 'view'"
            #expect(try await site.query(views) == "posts_now", "the old one goes")
            try write("")
            try await site.expectSuccess("sync")
            #expect(try await site.query(views) == "", "the name of none")
            try SQLiteFile(site.database).rows("CREATE VIEW mine AS SELECT 1")
            try write(", view: mine")
            let refused = try await site.bmo("sync")
            #expect(
                refused.exitCode == 2 && refused.errorOutput.contains("has a view mine that bmo did not create"),
                "\(refused)")
        }
    }
}
