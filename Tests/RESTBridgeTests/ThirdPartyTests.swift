import BridgeKit
import Foundation
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// Servers that others wrote, as they are: Datasette and Kinto, with a path each and little more.
@Suite(
    .enabled(
        if: ThirdPartyServers.isInstalled,
        "Datasette and Kinto are not installed: Scripts/install test puts them into .build/third-party, which takes a network"
    ),
    .serialized)
struct ThirdPartyTests {
    private static let shared = Result { try ThirdPartyServers() }
    let servers: ThirdPartyServers

    init() throws { servers = try Self.shared.get() }

    private func scan(
        _ options: Literal, _ section: Literal, token: String? = nil, since: String? = nil
    ) throws -> Scan {
        let bridge = try bridge(options)
        return try Scan(
            bridge.fetch(FetchRequest(entity: "User", section: section.options, token: token, since: since)))
    }

    private var kinto: Literal {
        [
            "url": "\(servers.kinto)/v1/buckets/zoo",
            "auth": ["type": "basic", "user": "ann", "password": "s3cret-pw"],
        ]
    }

    @Test func `a table of Datasette is read with nothing but its path`() throws {
        let scan = try scan(["url": .text(servers.datasette)], ["path": "zoo/users.json?_shape=objects"])
        #expect(scan.ids == Array(1...250))
        #expect(scan.pages.count == 3)
        #expect(scan.last?.isComplete == true)
        #expect(scan.pages[0].metadata["paging"] == "{style: link_header}")
    }

    @Test func `a table of Datasette in another shape goes on by its Link header, and takes conditions`() throws {
        let all = try scan(["url": .text(servers.datasette)], ["path": "zoo/users.json?_shape=array&_size=60"])
        #expect(all.ids == Array(1...250))
        #expect(all.pages.count == 5)
        #expect(all.pages[0].metadata["paging"] == "{style: link_header}")
        let bridge = try bridge(["url": .text(servers.datasette)])
        let section: Literal = [
            "path": "zoo/users.json?_shape=objects", "filters": ["city": "city", "id": [">": "id__gt"]],
        ]
        let some = try Scan(
            bridge.fetch(
                FetchRequest(
                    entity: "User", section: section.options,
                    filters: [
                        FetchRequest.Filter(attribute: "city", path: "city", comparison: .equal, value: "Lyon"),
                        FetchRequest.Filter(attribute: "id", path: "id", comparison: .greater, value: "240"),
                    ])))
        #expect(some.ids == [241, 243, 245, 247, 249])
        #expect(some.last?.pushed == [0, 1])
    }

    @Test func `a collection of Kinto is read with nothing but its path`() throws {
        let scan = try scan(kinto, ["path": "collections/users/records"])
        #expect(scan.records.count == 250)
        #expect(Set(scan.records).count == 250)
        #expect(scan.pages.count == 3)
        #expect(scan.last?.isComplete == true)
        #expect(scan.pages[0].metadata["paging"] == "{style: next_url, header: Next-Page}")
    }

    @Test func `a collection of Kinto that did not move is not sent again`() throws {
        let first = try scan(kinto, ["path": "collections/few/records"])
        #expect(first.records.count == 3)
        let token: String = try #require(first.last?.token)
        let second = try scan(kinto, ["path": "collections/few/records"], token: token)
        #expect(second.records.isEmpty)
        #expect(second.last?.isUnchanged == true)
    }

    @Test func `Kinto brings what moved since a time`() throws {
        let section: Literal = [
            "path": "collections/few/records", "query": ["_since": "{since}", "_sort": "last_modified"],
        ]
        let all = try scan(kinto, section)
        #expect(all.records.count == 3)
        let first = try #require(all.records.first?.firstRange(of: "\"last_modified\":"))
        let stamp = try #require(all.records.first)[first.upperBound...].prefix { $0.isNumber }
        let later = try scan(kinto, section, since: "\"\(stamp)\"")
        #expect(later.records.count == 2)
    }
}

/// Both servers, stopped with the last reference.
final class ThirdPartyServers: Sendable {
    let datasette: String
    let kinto: String
    private let process: Process
    private let input = Pipe()
    private let folder: TemporaryFolder

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let python = root.appending(path: ".build/third-party/bin/python3").path

    static var isInstalled: Bool {
        FileManager.default.isExecutableFile(atPath: root.appending(path: ".build/third-party/bin/kinto").path)
    }

    init() throws {
        folder = try TemporaryFolder()
        process = Process()
        process.executableURL = URL(filePath: Self.python)
        process.arguments = [Self.root.appending(path: "Fixtures/rest/third_party.py").path, folder.path]
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = input
        try process.run()
        var bytes = Data()
        while bytes.last != UInt8(ascii: "\n"), let more = try output.fileHandleForReading.read(upToCount: 1),
            !more.isEmpty
        {
            bytes += more
        }
        let urls = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
        try #require(urls.count == 2, "the servers did not start")
        (datasette, kinto) = (urls[0], urls[1])
    }

    deinit {
        // The end of its input stops it and what it started.
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
