import BridgeKit
import Testing

@Suite struct CapabilityNameTests {
    /// Built plugins and hosts exchange these names: a case may be renamed, its raw value may not.
    @Test func `the names of capabilities that cross the boundary do not change`() {
        #expect(
            BridgeDescriptor.Capability.allCases.map(\.rawValue) == [
                "check", "discover", "fetch", "create", "update", "delete", "resume", "incremental", "parent", "filter",
                "plan", "watch", "replay", "judge", "plan_write", "newest_first", "user_info", "parameters",
                "moves",
            ])
    }

    @Test func `the codes of errors do not change`() {
        #expect(
            BridgeError.Code.allCases.map(\.rawValue).sorted() == [
                "authentication", "cancelled", "configuration", "conflict", "crashed", "internal", "limit", "not_found",
                "permission", "protocol", "rate_limited", "remote", "timeout", "tls", "unreachable", "unsupported",
            ])
    }
}
