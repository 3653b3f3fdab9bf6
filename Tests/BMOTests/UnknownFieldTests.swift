import BMO
import SQLiteStore
import StoreContract
import Testing

@Suite struct UnknownFieldReportTests {
    @Test func aFieldThatNothingReadsIsWarnedOfOnce() async throws {
        let workplace = try CountingWorkplace()
        let workspace = try await workplace.workspace(
            """
            version: 1
            bridges:
              numbers: {plugin: counting, options: {count: 10}}
            entities:
              Number: {bridge: numbers, key: id, attributes: {id: integer, even: {type: boolean, from: nested.even}}, counting: {}}
            """)
        let first = try await workplace.sync(workspace)
        #expect(
            first.entities.first?.warnings == [
                "records have 2 fields that nothing reads: name, nested.digits; `extra: true` would keep them"
            ])
        #expect(try await workplace.sync(workspace).entities.first?.warnings == [])
    }
}
