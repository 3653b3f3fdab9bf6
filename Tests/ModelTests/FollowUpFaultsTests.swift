import Testing
@testable import Model

/// Which faults only follow from a misspelled key, and are reported behind it.
@Suite struct FollowUpFaultsTests {
    private func fault(_ message: String, _ remedy: String? = nil) -> Diagnostic {
        Diagnostic(location: .unknown, message: message, remedy: remedy)
    }

    private func misspelled(_ key: String, of what: String, for valid: String) -> Diagnostic {
        fault("unknown key \"\(key)\"\(what)", "did you mean \"\(valid)\"? valid: \(valid)")
    }

    @Test func `a fault is behind the first cause that explains it, and the others keep their order`() {
        let user = " of entity \"User\""
        let member = " of source \"more\" of entity \"User2\""
        let faults = [
            fault("missing key \"attributes\"\(user)"),
            fault("\"incremental\"\(member) names the unknown attribute \"a\""),
            misspelled("atributes", of: user, for: "attributes"),
            fault("\"match\"\(user) names the unknown attribute \"b\""),
            misspelled("atribute", of: user, for: "attributes"),
            fault("unknown entity \"Post\" in relationship \"posts\"\(user)"),
            misspelled("relationship", of: member, for: "relationships"),
            fault("\"match\" of entity \"Other\" names the unknown attribute \"c\""),
            misspelled("entitys", of: "", for: "entities"),
        ]
        let order = [2, 0, 3, 4, 6, 1, 7, 8, 5]
        #expect(FollowUpFaults.behindCauses(faults) == order.map { faults[$0] })
    }

    @Test func `faults without a misspelled key keep their order`() {
        let faults = ["unknown entity \"A\" in \"extends\" of entity \"B\"", "missing bridges"].map { fault($0) }
        #expect(FollowUpFaults.behindCauses(faults) == faults)
    }

    @Test func `unknown attributes are left out for an entity whose attributes are not learned yet`() {
        let faults = [
            fault("the attributes of entity \"User\" are \"auto\", and no sync has seen its records yet"),
            fault("\"match\" of entity \"User\" names the unknown attribute \"a\""),
            fault("\"match\" of entity \"User2\" names the unknown attribute \"a\""),
        ]
        #expect(FollowUpFaults.behindCauses(faults) == [faults[0], faults[2]])
    }
}
