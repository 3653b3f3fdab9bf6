import BridgeKit
import Testing
import TestLiterals

@testable import SMBBridge

@Suite struct PathPatternTests {
    /// What a scan down `path` captures, or nil when it is pruned or does not match.
    private func match(_ pattern: String, _ path: String, isCaseSensitive: Bool = false) throws -> [String]? {
        let pattern = try PathPattern(pattern, isCaseSensitive: isCaseSensitive)
        var parts = path.split(separator: "/").map(String.init)
        guard parts.starts(with: pattern.literalFolders) else { return nil }
        parts.removeFirst(pattern.literalFolders.count)
        var positions = pattern.start(behind: pattern.literalFolders.count)
        for folder in parts.dropLast() {
            positions = pattern.descend(from: positions, into: folder)
            if positions.isEmpty { return nil }
        }
        return parts.last.flatMap { pattern.match($0, at: positions) }
    }

    @Test(
        arguments: [
            ("a.txt", "a.txt", []), ("*.txt", "a.txt", []), ("*.txt", "a.csv", nil), ("*", "a/b", nil),
            ("countries/{country}/*.txt", "countries/AW/x.txt", ["AW"]),
            ("countries/{country}/*.txt", "countries/AW/sub/x.txt", nil),
            ("{a}/{b}.{c}", "x/y.tar.gz", ["x", "y.tar", "gz"]), ("{a}-{b}", "1-2-3", ["1-2", "3"]),
            ("{a}", "", nil), ("x{a}", "x", nil), ("?.?", "a.b", []), ("?.?", "ab.c", nil),
            ("**/*.txt", "a.txt", []), ("**/*.txt", "a/b/c.txt", []), ("**", "a/b/c", []), ("a/**/z", "a/z", []),
            ("a/**/z", "a/b/c/z", []), ("a/**/{x}/z", "a/b/c/z", ["c"]), ("**/x/**/y", "1/x/2/x/3/y", []),
            ("{{x}}.txt", "{x}.txt", []), ("*a*a*a*a*a*b", String(repeating: "a", count: 200), nil),
            ("ÄÖ*", "äöü", []), ("/a//b", "a/b", []),
        ] as [(String, String, [String]?)])
    func `a path matches or not, and gives its captures`(pattern: String, path: String, captures: [String]?) throws {
        #expect(try match(pattern, path) == captures)
    }

    @Test func `case counts only when asked for, and captures keep it`() throws {
        #expect(try match("x/{N}.TXT", "x/Abc.txt") == ["Abc"])
        #expect(try match("x/{N}.TXT", "x/Abc.txt", isCaseSensitive: true) == nil)
    }

    @Test func `a scan starts in the literal folders and prunes what leads nowhere`() throws {
        let pattern = try PathPattern("a/b/{c}/d/*.txt")
        #expect(pattern.literalFolders == ["a", "b"])
        #expect(!pattern.isLiteral)
        let inC = pattern.descend(from: pattern.start(behind: 2), into: "any")
        #expect(!inC.isEmpty)
        #expect(pattern.descend(from: inC, into: "other").isEmpty)
        let inD = pattern.descend(from: inC, into: "d")
        #expect(pattern.match("x.txt", at: inD) == ["any"])
        #expect(pattern.descend(from: inD, into: "deeper").isEmpty)
        #expect(try PathPattern("a/b.csv").isLiteral)
    }

    @Test func `a whole path gives the captures of the first pattern that matches it`() throws {
        let patterns = try PatternSet(["a/{x}/*.txt", "**/{y}.csv"])
        #expect(patterns.captures(of: ["a", "1", "n.txt"]) == ["x": "1"])
        #expect(patterns.captures(of: ["a", "1", "n.csv"]) == ["y": "n"])
        #expect(patterns.captures(of: ["b", "n.txt"]) == nil)
        #expect(patterns.captures(of: []) == nil)
    }

    @Test func `patterns may have one folder for all matches`() throws {
        #expect(try PatternSet(["docs/a/*.txt", "docs/a/b.csv"]).onlyFolder == ["docs", "a"])
        #expect(try PatternSet(["*"]).onlyFolder == [])
        for texts in [["**"], ["docs/**"], ["docs/{x}/*"], ["a/*", "b/*"]] {
            #expect(try PatternSet(texts).onlyFolder == nil, "\(texts)")
        }
    }

    @Test func `names match in either normal form of Unicode`() throws {
        #expect(try match("caf\u{E9}/{n}.txt", "cafe\u{301}/u\u{308}.txt")?.first?.unicodeScalars.count == 2)
        #expect(try match("**/cafe\u{301}.txt", "x/CAF\u{C9}.TXT") == [])
        #expect(try match("?.txt", "e\u{301}.txt") == [])
    }

    @Test func `several patterns start where all of them begin, and captures that a pattern lacks are nil`() throws {
        let set = try PatternSet(
            ["a/b/{c}.txt", "a/x/**", "a/b/{d}.csv"], excluding: ["**/tmp", "a/x/*.bak"], depth: 2)
        #expect(set.root == ["a"])
        #expect(set.captureNames == ["c", "d"])
        let inB = set.descend(from: set.start, into: "B")
        #expect(set.match("1.txt", at: inB)?.captures == ["1", nil])
        #expect(set.match("1.csv", at: inB)?.captures == [nil, "1"])
        #expect(set.match("1.doc", at: inB) == nil)
        #expect(set.match("1.doc", at: set.descend(from: set.start, into: "x"))?.pattern == 1)
        #expect(set.descend(from: set.start, into: "y").isEmpty)
        #expect(set.excludes(["a", "x", "tmp"]) && set.excludes(["a", "x", "Q.BAK"]))
        #expect(!set.excludes(["a", "x", "q"]))
        #expect(try PatternSet(["a/b/*", "a/b/*"]).root == ["a", "b"])
        let error = try bridgeError { _ = try PatternSet(["*"], excluding: ["{x}"]) }
        #expect(error.message == "exclude: the pattern \"{x}\" captures {x}")
    }

    @Test(arguments: [
        ("", "the pattern is empty"), ("a/{b", "the pattern \"a/{b\": a { has no }"),
        ("a}", "the pattern \"a}\": a } has no {; a brace itself is written twice"),
        ("{a}{b}", "the pattern \"{a}{b}\": nothing separates {b} from what precedes it"),
        ("*{a}", "the pattern \"*{a}\": nothing separates {a} from what precedes it"),
        ("{a}*", "the pattern \"{a}*\": nothing separates a capture from the * after it"),
        ("{a}/{a}", "the pattern \"{a}/{a}\" captures {a} twice"),
        (
            "{1}",
            "the pattern \"{1}\": {1} is not a capture: a name has letters, digits and _ and does not begin with a digit"
        ),
        ("a**", "the pattern \"a**\": ** must stand alone between slashes"),
        ("../a", "the pattern \"../a\": \"..\" is not a name"),
        ("a:b", "the pattern \"a:b\": \"a:b\" has a character that SMB names cannot have"),
    ])
    func `a malformed pattern is refused with its fault`(text: String, message: String) throws {
        let error = try bridgeError { _ = try PathPattern(text) }
        #expect(error.code == .configuration)
        #expect(error.message == message)
    }
}
