import TestSupport
import Testing

@testable import BridgeRecording

/// Which of the recorded exchanges answers a request.
@Suite struct RecordedExchangesTests: TestWorkspace {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ target: String, of entity: String?) -> ExchangeFile {
        var file = ExchangeFile()
        file.entity = entity
        file.method = "GET"
        file.target = target
        return file
    }

    private func recorded(_ name: String, _ target: String, of entity: String?) -> RecordedExchanges.Recorded {
        let file = file(target, of: entity)
        return RecordedExchanges.Recorded(name: name, file: file, key: ExchangeKey(file))
    }

    @Test func `the first unused exchange of the entity comes first, and of no entity after it`() throws {
        let place = ExchangeFolder(path: folder.appending("all"), report: folder.appending("report"))
        var all = RecordedExchanges([
            recorded("1", "/a", of: "B"), recorded("2", "/a", of: "A"), recorded("3", "/b", of: "A"),
            recorded("4", "/a", of: "A"),
        ])
        let key = ExchangeKey(file("/a", of: nil))
        var names: [String?] = []
        for _ in 0..<4 {
            try place.withReport { report in
                all.read(report)
                let name = all.firstUnused(key, of: "A")?.name
                names.append(name)
                return (name.map { ["used \($0)"] } ?? [], ())
            }
        }
        #expect(names == ["2", "4", "1", nil])
        #expect(all.last(key, of: "B")?.name == "1")
        #expect(all.last(key, of: "C")?.name == "4")
        #expect(all.isUnused("3"))
    }

    @Test func `what another process notes counts, and each fault only once`() throws {
        let place = ExchangeFolder(path: folder.appending("all"), report: folder.appending("report"))
        var all = RecordedExchanges([recorded("1", "/a", of: "A"), recorded("2", "/a", of: "A")])
        let key = ExchangeKey(file("/a", of: nil))
        try place.withReport { _ in (["fault 1 timeout 0", "used 1"], ()) }
        for _ in 0..<3 {
            try place.withReport { report in
                all.read(report)
                return ([], ())
            }
        }
        #expect(all.faults(before: "1") == 1)
        let unused = all.firstUnused(key, of: "A")
        #expect(unused?.name == "2")
    }
}
