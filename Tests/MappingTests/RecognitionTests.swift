import ImportTestSupport
import Mapping
import Model
import Testing
import TestSupport

/// Which entity of a family a record is of.
@Suite struct RecognitionTests {
    /// Media, with films (shorts among them) and songs; a shelf holds any, and has a favourite film.
    static func library() throws -> CompiledModel {
        var film = Entity("Film", key: [], [.of("minutes", .integer), .of("title", .text, from: ["film_title"])])
        film.superentity = "Media"
        film.matcher = Matcher([.equals(RemotePath(["kind"]), ["film", "7"])])
        var short = Entity("Short", key: [], [.of("festival", .text)], [.one("sequel", "Film")])
        short.superentity = "Film"
        short.matcher = Matcher([.has(RemotePath(["festival"])), .lacks(RemotePath(["meta", "long"]))])
        var song = Entity("Song", key: [], [.of("minutes", .integer), .of("artist", .text, from: ["by", "name"])])
        song.superentity = "Media"
        song.matcher = Matcher([.matches(RemotePath(["kind"]), try RegularExpression("^(song|tune)"))])
        return try CompiledModel.of(
            Entity("Media", key: ["id"], [.of("id", .integer), .of("title", .text)]), film, short, song,
            Entity(
                "Shelf", key: ["id"], [.of("id", .integer)], [.many("media", "Media"), .one("best", "Film")]))
    }

    @Test(
        arguments: [
            (["id": 1, "title": "A"], "Media id=1 title='A' entity='Media'"),
            (["id": 1, "kind": "film", "film_title": "A"], "Film id=1 title='A' entity='Film'"),
            (["id": 1, "kind": 7, "title": "A", "minutes": 90], "Film id=1 entity='Film' minutes=90"),
            (["id": 1, "kind": "film", "festival": "Oslo"], "Short id=1 entity='Short' festival='Oslo'"),
            (["id": 1, "kind": "film", "festival": nil], "Film id=1 entity='Film'"),
            (["id": 1, "kind": "film", "festival": "Oslo", "meta": ["long": true]], "Film id=1 entity='Film'"),
            (["id": 1, "festival": "Oslo"], "Short id=1 entity='Short' festival='Oslo'"),
            (["id": 1, "kind": "song", "festival": "Oslo"], "Song id=1 entity='Song'"),
            (["id": 1, "kind": "tune 3", "by": ["name": "B"]], "Song id=1 entity='Song' artist='B'"),
            (["id": 1, "kind": "a song"], "Media id=1 entity='Media'"),
            (["id": 1, "kind": ["film"]], "Media id=1 entity='Media'"),
            (["id": 1, "kind": "song", "kind": "film"], "Film id=1 entity='Film'"),
        ] as [(Literal, String)])
    func `the most special matcher wins`(_ record: Literal, _ expected: String) throws {
        #expect(try mapped(record, as: "Media", in: Self.library()) == expected)
    }

    @Test(
        arguments: [
            ("1.0", 1, true), ("1", 1.0, true), ("1.10", 1.1, true), ("1e0", 1, true), ("1", "1.0", false),
            ("1", 2, false), ("one", 1, false), ("007", "007", true), ("007", "7", false), ("true", true, true),
            ("12345678901234567890", .decimal("12345678901234567891"), false),
            ("12345678901234567890.0", .decimal("12345678901234567890"), true),
        ] as [(String, Literal, Bool)])
    func `a number equals each notation of it, and a text its own alone`(
        _ wanted: String, _ value: Literal, _ isFilm: Bool
    ) throws {
        var film = Entity("Film", key: [], [])
        film.superentity = "Media"
        film.matcher = Matcher([.equals(RemotePath(["kind"]), [wanted])])
        let model = try CompiledModel.of(Entity("Media", key: ["id"], [.of("id", .integer)]), film)
        let name = isFilm ? "Film" : "Media"
        #expect(try mapped(["id": 1, "kind": value], as: "Media", in: model) == "\(name) id=1 entity='\(name)'")
    }

    @Test func `a subentity that is expected needs no match`() throws {
        let library = try Self.library()
        #expect(
            try mapped(["id": 1, "film_title": "A"], as: "Film", in: library) == "Film id=1 title='A' entity='Film'")
        #expect(
            try mapped(["id": 1, "festival": "Oslo"], as: "Film", in: library)
                == "Short id=1 entity='Short' festival='Oslo'")
        #expect(
            try mapped(["id": 1, "title": "A", "kind": "song"], as: "Film", in: library)
                == "Song id=1 title='A' entity='Song'", "the record says what it is")
    }

    /// Media with films, and below these episodes, pilots and series, which are told by their own `kind` alone.
    private static func series(filmMatches: Bool = true) throws -> CompiledModel {
        func kind(_ name: String, of superentity: String, matches: Bool = true) -> Entity {
            var entity = Entity(name, key: [], [])
            entity.superentity = superentity
            if matches { entity.matcher = Matcher([.equals(RemotePath(["kind"]), [name.lowercased()])]) }
            return entity
        }
        return try CompiledModel.of(
            Entity("Media", key: ["id"], [.of("id", .integer)]), kind("Film", of: "Media", matches: filmMatches),
            kind("Episode", of: "Film"), kind("Pilot", of: "Episode"), kind("Extra", of: "Film", matches: false),
            kind("Song", of: "Media"))
    }

    @Test(arguments: ["Media", "Film", "Episode", "Pilot", "Extra", "Song"], [true, false])
    func `the matcher of a subentity needs no match of those above it`(_ expected: String, filmMatches: Bool) throws {
        let series = try Self.series(filmMatches: filmMatches)
        for name in ["Episode", "Pilot", "Song"] {
            #expect(
                try mapped(["id": 1, "kind": .text(name.lowercased())], as: expected, in: series)
                    == "\(name) id=1 entity='\(name)'", "whatever its place says")
        }
        #expect(
            try mapped(["id": 1, "kind": "opera"], as: expected, in: series) == "\(expected) id=1 entity='\(expected)'")
    }

    @Test func `an expected subentity without a matcher gives way to its siblings alone`() throws {
        let series = try Self.series()
        #expect(try mapped(["id": 1, "kind": "film"], as: "Extra", in: series) == "Extra id=1 entity='Extra'")
        #expect(try mapped(["id": 1, "kind": "film"], as: "Pilot", in: series) == "Film id=1 entity='Film'")
        #expect(try mapped(["id": 1, "kind": "film"], as: "Media", in: series) == "Film id=1 entity='Film'")
        #expect(try mapped(["id": 1, "kind": "pilot"], as: "Extra", in: series) == "Pilot id=1 entity='Pilot'")
    }

    @Test func `nested objects are recognised too`() throws {
        #expect(
            try mapped(
                [
                    "id": 1,
                    "media": [
                        ["id": 2, "kind": "song"], 3, ["id": 4, "kind": "film", "festival": "Oslo", "sequel": 5],
                    ],
                    "best": ["id": 6],
                ], as: "Shelf", in: Self.library()) == """
                    Shelf id=1 best=6
                    Song id=2 entity='Song'
                    (Media) id=3 entity='Media'
                    Short id=4 entity='Short' festival='Oslo' sequel=5
                    Film id=6 entity='Film'
                    0.media: 2 3 4
                    """)
    }

    @Test func `the columns of an entity are those of its objects`() throws {
        let library = try Self.library()
        func columns(_ name: String) throws -> [String] {
            library.entities[try #require(library.index(of: name))].columns.map(\.name)
        }
        #expect(try columns("Media") == ["id", "title", "entity", "minutes", "festival", "sequel", "artist"])
        #expect(try columns("Film") == ["id", "title", "entity", "minutes", "festival", "sequel"])
        #expect(try columns("Song") == ["id", "title", "entity", "minutes", "artist"])
        #expect(library.entities[2].kinds == ["Short"] && library.entities[1].kinds == ["Film", "Short"])
    }
}
