import BridgeConformance
import Testing
import TestSupport

@Suite struct ConformanceRunTests {
    @Test func `a good bridge passes at the strictest level`() async throws {
        let report = try await shelfReport()
        #expect(report.failures == [:])
        let passed = report.results.filter { $0.outcome == .passed }.map(\.check.id)
        // All but what the shelf has nothing for.
        #expect(Set(ConformanceRun.catalog.map(\.id)).subtracting(passed) == ["incremental.future"])
    }

    /// Each defect makes the check fail that is there for it: proves that the check can.
    @Test(arguments: [
        ("CAPABILITY", "describe.capabilities", "telepathy"),
        ("OPEN_SCHEMA", "describe.closed", "additionalProperties"),
        ("UNDOCUMENTED", "describe.documented", "password"),
        ("PLAIN_SECRET", "describe.secrets", "password"),
        ("TAKES_ANY_PASSWORD", "check.wrong", "passes with wrong options"),
        ("BARE_ERROR", "check.wrong", "internal"),
        ("DISCOVERS_NO_TYPES", "discover.shape", "lacks its name or type"),
        ("NEVER_COMPLETE", "read.end", "never says `complete`"),
        ("TOTAL", "read.total", "total 301, but 300"),
        ("TEXT_IDS", "read.mapping", "Item.id"),
        ("SAME_KEY", "read.mapping", "comes twice"),
        ("UNSTABLE", "read.repeatable", "only in the first"),
        ("SINGLE_RECORDS", "read.pages", "300 records in 300 batches"),
        ("REFUSES_USER_INFO", "read.user_info", "it is unknown"),
        ("IGNORES_PARAMETERS", "read.parameters", "no planned request has the parameter"),
        ("REPEATS_CURSOR", "resume.cursors", "occurs twice"),
        ("RESUMES_AT_START", "resume.each", "not the other 200"),
        ("SKIPS_ON_RESUME", "resume.each", "come 199"),
        ("TAKES_ANY_CURSOR", "resume.nonsense", "from an invalid cursor"),
        ("IGNORES_TOKEN", "incremental.second", "300 records that did not change"),
        ("PRINTS", "conduct.quiet", "reading from 0"),
        ("LEAKS_LOG", "conduct.secrets", "opening with ***"),
        ("LEAKS_PAGE", "conduct.secrets", "the password *** expires"),
        ("IGNORES_CANCEL", "conduct.cancel", "it took"),
        ("SHARED_POSITION", "conduct.midway", "records come"),
        ("HOGS", "conduct.memory", "at its limit of 256 MiB"),
        ("CRASHES_WITHOUT_SECTION", "conduct.empty", "it crashes"),
        ("EMPTY_PLAN", "conduct.plan", "it names no request"),
        ("IGNORES_WATCH", "conduct.watch", "answered a watch with records"),
        ("SLEEPS_THROUGH_CANCEL", "conduct.watch", "or more to end"),
        ("DROPS_VALUE", "write.create", "Item.color is \"red\" after the create"),
        ("UPDATE_CLEARS", "write.update", "Item.color is \"\" after the update"),
        ("KEEPS_DELETED", "write.delete", "still there"),
        ("DELETES_MORE", "write.delete", "removed other objects too"),
        ("DELETE_AGAIN", "write.again", "there is no such item"),
        ("REFUSES_USER_INFO_OF_WRITE", "write.user_info", "it is unknown"),
        ("EXPLAINS_USER_INFO", "write.user_info", "with a user info, it explains the update as"),
        ("DROPS_VALUE_WITH_USER_INFO", "write.user_info", "Item.color is \"red\" after the create"),
        ("KEEPS_DELETED_WITH_USER_INFO", "write.user_info", "still there"),
        ("UPDATES_NOTHING", "write.unknown", "it reports success"),
    ])
    func `a bridge with a defect fails its check`(defect: String, check: String, words: String) async throws {
        let others = ConformanceRun.catalog.map(\.id).filter { $0 != check }
        let report = try await shelfReport(
            defect, skips: Dictionary(uniqueKeysWithValues: others.map { ($0, "not of this test") })
        )
        let failure = try #require(report.failures[check], "\(report.text)")
        #expect(failure.contains(words))
    }

    @Test func `where a basic check fails, those of the higher levels are not tried`() async throws {
        let report = try await shelfReport("TEXT_IDS")
        let basic = ConformanceRun.catalog.filter { $0.level == .basic }.count
        #expect(report.results.count == ConformanceRun.catalog.count)
        #expect(report.results.prefix(basic).nonEmptyAllSatisfy { $0.check.level == .basic })
        for result in report.results.dropFirst(basic) {
            #expect(result.outcome == .notApplicable("not tried, as read.mapping failed"), "\(result.line)")
        }
        #expect(!report.passed)
    }

    @Test func `a check that takes too long fails, and the others go on`() async throws {
        // Each page but the first takes this bridge two seconds.
        let report = try await shelfReport("IGNORES_CANCEL", level: .basic, timeout: .seconds(1))
        #expect(report.failures["read.records"] != nil, "\(report.text)")
        #expect(report.results.contains { $0.check.id == "check.good" && $0.outcome == .passed }, "\(report.text)")
        #expect(report.results.nonEmptyAllSatisfy { $0.duration < .seconds(30) }, "\(report.text)")
    }

    @Test func `a key that the remote gives is the one of its answer`() async throws {
        let others = ConformanceRun.catalog.map(\.id).filter { !$0.hasPrefix("write.") }
        let skips = Dictionary(uniqueKeysWithValues: others.map { ($0, "not of this test") })
        let good = try await shelfReport(skips: skips, remoteGivesKey: true)
        #expect(good.passed && good.results.count { $0.outcome == .passed } == 6, "\(good.text)")
    }

    @Test func `a skipped check is reported with its reason`() async throws {
        let skips = Dictionary(uniqueKeysWithValues: ConformanceRun.catalog.map { ($0.id, "a \"reason\" & more") })
        let report = try await shelfReport("PRINTS", skips: skips)
        #expect(report.passed)
        #expect(report.results.nonEmptyAllSatisfy { $0.outcome == .skipped("a \"reason\" & more") })
        #expect(report.text.hasSuffix("0 passed, 0 failed, \(report.results.count) skipped, 0 not applicable"))
        #expect(report.junit.contains("<skipped message=\"a &quot;reason&quot; &amp; more\"/>"))
        #expect(report.json.contains(#""outcome":"skipped","reason":"a \"reason\" & more""#))
    }

    @Test func `a lower level makes fewer checks`() async throws {
        let skips = Dictionary(uniqueKeysWithValues: ConformanceRun.catalog.map { ($0.id, "not of this test") })
        let report = try await shelfReport(level: .basic, skips: skips)
        #expect(report.results.map(\.check.id) == ConformanceRun.catalog.filter { $0.level == .basic }.map(\.id))
        #expect(report.results.count < ConformanceRun.catalog.count / 2)
    }
}
