import BridgeKit
import Testing
import TestLiterals

@testable import SMBBridge

@Suite struct SectionTests {
    @Test(
        arguments: [
            ([:], "the section smb needs exactly one of files, folders, csv, ndjson, json, xml"),
            (
                ["files": "*", "csv": "*"],
                "the section smb needs exactly one of files, folders, csv, ndjson, json, xml"
            ),
            (["files": "*", "delimiter": ";"], "the section smb has delimiter, which has no effect with files"),
            (
                ["files": "*", "encoding": "utf-8"],
                "the section smb has encoding, which has no effect with files without content"
            ),
            (["csv": "*", "content": "text"], "the section smb has content, which has no effect with csv"),
            (["files": "{size}"], "the pattern captures {size}, but each record has a field size of its own"),
            (["files": "*", "content": "all"], "content: \"all\" is not one of none, text, bytes, data, hash"),
            (["csv": "*", "delimiter": "::"], "delimiter: \"::\" is not one ASCII character"),
            (["csv": "*", "quote": ","], "delimiter and quote are the same"),
            (["csv": "*", "encoding": "klingon"], "encoding: \"klingon\" is not known"),
            (["csv": "*", "encoding": "utf-16//IGNORE"], "encoding: \"utf-16//IGNORE\" is not known"),
            (["csv": "*", "header": false], "header: neither true nor a list of names"),
            (["csv": "*", "header": ["a", "a"]], "header: the name \"a\" of column 2 occurs twice"),
            (["csv": "*", "header": ["@row"]], "header: the name \"@row\" of column 1 occurs twice"),
            (["xml": "*", "encoding": "utf-8"], "the section smb has encoding, which has no effect with xml"),
            (["json": "*", "records": "items"], "records: \"items\" is not a path: $ must come first at character 1"),
            (["ndjson": "*", "write": "all"], "write: \"all\" is not one of none, append, rewrite"),
            (["files": "*", "depth": -1], "depth: -1 is below 0"),
            (["csv": "{x}", "header": ["x"]], "header: column 1 is named \"x\", as a capture of the pattern is"),
        ] as [(Literal, String)])
    func `a section that makes no sense is refused`(section: Literal, message: String) throws {
        let error = try bridgeError { _ = try EntitySection(BridgeOptions(section)) }
        #expect(error.code == .configuration)
        #expect(error.message == message)
    }

    @Test(
        arguments: [
            ([:], "the option url is missing"),
            (["url": "smb://h/s", "password": "p"], "there is a password but no user"),
            (["url": "smb://h/s", "user": "u", "timeout": 0], "timeout: 0 is not within 1 to 3600 seconds"),
            (
                ["url": "smb://h/s", "guest": true, "min_protocol": "SMB3_11", "max_protocol": "SMB2_02"],
                "min_protocol SMB3_11 is newer than max_protocol SMB2_02"
            ),
            (
                ["url": "smb://h/s", "user": "u", "encryption": "off"],
                "encryption: \"off\" is not one of default, preferred, required"
            ),
            (
                ["url": "smb://h/s", "user": "u", "encryption": "required", "max_protocol": "SMB2_10"],
                "encryption is required, but max_protocol SMB2_10 has none"
            ),
            (["url": "smb://h/s"], "no user is set"),
            (["url": "smb://h/s", "user": "u", "guest": true], "the options guest and user are both set"),
            (
                ["url": "smb://h/s", "kerberos": true, "user": "u", "password": "p"],
                "kerberos cannot be combined with password or guest"
            ),
            (
                ["url": "smb://h/s", "user": "u", "credentials_cache": "/c"],
                "there is a credentials_cache without kerberos"
            ),
            (
                ["url": "smb://h/s", "user": .text(String(repeating: "u", count: 256))],
                "the option user is longer than 255 bytes or holds a zero byte"
            ),
        ] as [(Literal, String)])
    func `options that make no sense are refused`(options: Literal, message: String) throws {
        let error = try bridgeError { _ = try ShareOptions(BridgeOptions(options)) }
        #expect(error.code == .configuration)
        #expect(error.message == message)
    }

    @Test(
        arguments: [
            (["csv": "*"], "the entity is \"writable\", but its section smb has no \"write\""),
            (["ndjson": "*", "write": "none"], "the entity is \"writable\", but its section smb has no \"write\""),
            (["xml": "*"], "the entity is \"writable\", but rows of JSON and XML files cannot be written"),
            (["csv": "*", "write": "append"], nil), (["files": "*"], nil), (["folders": "*"], nil),
        ] as [(Literal, String?)])
    func `a section that allows no writing is a fault where the entity is written`(
        section: Literal, message: String?
    ) throws {
        #expect(try EntitySection(BridgeOptions(section)).writeFaults.first?.message == message)
    }

    @Test func `columns that name no attribute are a fault, and those outside the key a warning`() throws {
        let section: Literal = [
            "csv": "*", "write": "rewrite", "columns": ["id": "Code", "nmae": "N", "name": "M"],
        ]
        var request = FetchRequest(entity: "Row", section: BridgeOptions(section))
        request.names = EntityNames(fields: ["id", "name"], key: ["id"])
        let faults = try EntitySection(request.section).faults(in: request)
        #expect(faults.map(\.key) == ["columns.name", "columns.nmae"])
        #expect(faults.map(\.isWarning) == [true, false])
    }

    @Test(
        arguments: [
            (["csv": "*", "columns": ["id": "Code"]], "columns"),
            (["ndjson": "*", "write": "none", "columns": ["id": "Code"]], "columns"),
            (["files": "*", "max_content_bytes": 5], "max_content_bytes"),
            (["files": "*", "content": "hash", "max_content_bytes": 5], "max_content_bytes"),
        ] as [(Literal, String)])
    func `an option without effect is warned of, unless it is shared with other entities`(
        section: Literal, key: String
    ) throws {
        var request = FetchRequest(entity: "Row", section: BridgeOptions(section))
        let faults = try EntitySection(request.section).faults(in: request)
        #expect(faults.map(\.key) == [key])
        #expect(faults.map(\.isWarning) == [true])
        request.inheritedMembers = [key]
        #expect(try EntitySection(request.section).faults(in: request).isEmpty)
    }

    @Test(
        arguments: [
            ("**", [["path"]], false), ("**", [["name"], ["folder"]], false), ("docs/*", [["name"]], false),
            ("**", [["name"]], true), ("docs/*", [["path_key"], ["size"]], true), ("**", [["inode"]], true),
        ] as [(String, [[String]], Bool)])
    func `a written entity that does not read which file an object is, is a fault`(
        pattern: String, paths: [[String]], isFault: Bool
    ) throws {
        var request = FetchRequest(entity: "File", section: BridgeOptions(["files": .text(pattern)]))
        request.fieldPaths = paths
        let section = try EntitySection(request.section)
        #expect(section.faults(in: request).isEmpty, "it is only read")
        request.isWritable = true
        #expect(section.faults(in: request).isEmpty == !isFault)
        request.fieldPaths = nil
        #expect(section.faults(in: request).isEmpty, "all members are read")
    }

    @Test(
        arguments: [
            (["csv": "*.csv"], [["id"]], true), (["csv": "*.csv"], [["id"], ["@path"]], false),
            (["csv": "a.csv"], [["id"]], false), (["files": "*", "content": "hash"], [["path_key"]], true),
            (["files": "*", "content": "hash"], [["path"]], false), (["files": "*"], [["path_key"]], false),
        ] as [(Literal, [[String]], Bool)])
    func `incremental without what says which file an object is from is warned of`(
        section: Literal, paths: [[String]], isFault: Bool
    ) throws {
        var request = FetchRequest(entity: "Row", section: BridgeOptions(section))
        request.fieldPaths = paths
        #expect(try EntitySection(request.section).faults(in: request).isEmpty, "it is read whole")
        request.token = "Row.token"
        #expect(try EntitySection(request.section).faults(in: request).map(\.isWarning) == (isFault ? [true] : []))
    }

    @Test func `the password is the only secret option`() {
        let secrets = SMBBridge.optionsSchema.split(separator: "\n").filter { $0.contains("\"writeOnly\": true") }
        #expect(secrets.count == 1)
        #expect(secrets.first?.contains("\"password\"") == true)
    }
}
