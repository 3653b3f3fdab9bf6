import ImportTestSupport
import Importer
import StoreContract
import Model
import TestSupport
import Testing

@testable import BMO

@Suite struct SyncReportTests {
    private func entity(
        _ name: String, _ outcome: SyncReport.Entity.Outcome, resumedAfterPage: Int? = nil, warnings: [String] = []
    ) -> SyncReport.Entity {
        var counts = ImportCounts.Entity()
        counts.inserted = 1
        counts.updated = 2
        counts.unchanged = 3
        counts.quarantined = 4
        counts.stubs = 5
        counts.relinked = 6
        counts.deleted = 7
        return SyncReport.Entity(
            name: name, bridge: "remote", outcome: outcome, pages: 7, resumedAfterPage: resumedAfterPage,
            counts: counts,
            warnings: warnings, duration: .milliseconds(1234))
    }

    private static let counts =
        #""inserted":1,"updated":2,"unchanged":3,"quarantined":4,"stubs":5,"relinked":6,"deleted":7,"seconds":1.234"#

    @Test func `a report is one JSON object`() {
        let failure = SyncFailure(
            entity: "B", bridge: "remote", page: 8, code: "timeout", message: "no \"answer\"", remedy: nil,
            location: "http://x/?a=1", remote: "line 1\nline 2")
        let report = SyncReport(
            entities: [
                entity("A", .finished, resumedAfterPage: 3, warnings: ["old \u{1}"]), entity("B", .failed(failure)),
                entity("C", .interrupted), entity("D", .nested),
            ], duration: .seconds(2), wasInterrupted: false)
        let counts = Self.counts
        #expect(
            report.json == #"{"outcome":"failed","seconds":2.000,"entities":["#
                + #"{"entity":"A","bridge":"remote","outcome":"finished","pages":7,"resumed_after_page":3,"#
                + counts + #","warnings":["old \u0001"]},"#
                + #"{"entity":"B","bridge":"remote","outcome":"failed","pages":7,"# + counts
                + #","warnings":[],"error":{"code":"timeout","message":"no \"answer\"","remedy":null,"#
                + #""location":"http://x/?a=1","remote":"line 1\nline 2","page":8}},"#
                + #"{"entity":"C","bridge":"remote","outcome":"interrupted","pages":7,"# + counts + #","warnings":[]},"#
                + #"{"entity":"D","bridge":"remote","outcome":"nested","pages":7,"# + counts + #","warnings":[]}]}"#)
    }

    @Test func `a listing that was cut short is seen`() {
        var cut = entity("A", .finished, warnings: ["the reply says 5 records and holds 2"])
        cut.isIncomplete = true
        #expect(cut.json.contains(#""outcome":"finished","incomplete":true,"pages""#))
        #expect(cut.shownOutcome == "incomplete")
        #expect(entity("A", .finished).shownOutcome == "finished")
    }

    @Test func `an empty report succeeded`() {
        let report = SyncReport(entities: [], duration: .zero, wasInterrupted: false)
        #expect(report.json == #"{"outcome":"finished","seconds":0.000,"entities":[]}"#)
        #expect(report.succeeded)
    }

    @Test func `outcomes add up`() {
        func report(_ outcomes: SyncReport.Entity.Outcome..., interrupted: Bool = false) -> SyncReport {
            SyncReport(
                entities: outcomes.map { entity("A", $0) }, duration: .zero, wasInterrupted: interrupted)
        }
        #expect(report(.finished, .nested).outcomeWord == "finished")
        #expect(report(.finished, .interrupted, interrupted: true).outcomeWord == "interrupted")
        #expect(report(.finished, .interrupted).succeeded == false)
    }

    @Test func `seconds have three decimals`() {
        #expect(SyncReport.seconds(.zero) == "0.000")
        #expect(SyncReport.seconds(.microseconds(1_999)) == "0.001")
        #expect(SyncReport.seconds(.milliseconds(61_050)) == "61.050")
    }

    @Test func `a failure is one line`() {
        var failure = SyncFailure(
            entity: "A", bridge: "b", page: nil, code: "tls", message: "no trust in https://x/", remedy: nil,
            location: "https://x/", remote: nil)
        #expect(failure.description == "A (bridge b): tls: no trust in https://x/")
        failure.page = 2
        failure.location = "https://y/"
        failure.remote = "go away"
        failure.remedy = "set `ca`"
        #expect(
            failure.description
                == "A (bridge b, page 2): tls: no trust in https://x/ at https://y/; the remote says: go away; set `ca`"
        )
    }
}
