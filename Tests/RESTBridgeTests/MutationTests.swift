import BridgeKit
import RESTBridge
import TestSupport
import Testing

/// Mutations whose replies, all with status 200, tell what became of the change, or do not.
extension WriteTests {
    private func mutate(
        _ operation: WriteRequest.Operation = .create, reply: String, pad: Int = 0, options: Literal? = nil
    ) throws -> String? {
        let rule: Literal = [
            "path": "/mutate/notes", "query": ["reply": .text(reply), "pad": .text("\(pad)")],
            "graphql": ["query": "mutation($input: NoteInput!) { create(input: $input) { id text } }"],
            "wrap": "variables.input", "records": "$.data.create",
        ]
        return try write(
            operation, "mutate", [(operation.rawValue): rule], key: ["id": 1], values: ["text": "once"],
            options: options)
    }

    @Test(
        arguments: ["TIMEOUT", "INTERNAL_SERVER_ERROR", "PARTIAL", "page", "broken", "empty"],
        [WriteRequest.Operation.create, .update, .delete])
    func `a mutation whose reply does not say that nothing was done is an unknown outcome`(
        reply: String, operation: WriteRequest.Operation
    ) async throws {
        let error = try bridgeError { _ = try mutate(operation, reply: reply) }
        #expect(error.code == .timeout && !error.isRetryable, "\(error)")
        #expect(error.message.contains("it is unknown whether the remote carried it out"), "\(error)")
        #expect(error.remedy == "check the remote before it is sent again")
        // It was done indeed.
        #expect(try await remote("/mutate/notes") == #"[{"text": "once", "id": 1}]"#)
        #expect(try asked("POST").count == 1)
    }

    @Test func `a mutation that was done, refused or postponed is reported as such`() async throws {
        let busy = try bridgeError { _ = try mutate(reply: "THROTTLED") }
        #expect(busy.code == .rateLimited && busy.isRetryable)
        let refused = try bridgeError { _ = try mutate(reply: "BAD_USER_INPUT") }
        #expect(refused.code == .remote && !refused.isRetryable)
        #expect(refused.message.hasSuffix("the GraphQL reply holds errors (BAD_USER_INPUT)"), "\(refused)")
        #expect(try mutate(reply: "") == #"{"text":"once","id":2}"#)
    }

    @Test func `a delete by mutation is not done where its endpoint is not there`() throws {
        let error = try bridgeError { _ = try mutate(.delete, reply: "gone") }
        #expect(error.code == .notFound)
    }

    @Test func `a secret at the end of what a message quotes is struck out whole`() throws {
        let options: Literal = [
            "url": .text(server.url), "auth": ["type": "bearer", "token": "s3cret-0123456789-0123456789"],
        ]
        for pad in [440, 460] {
            let error = try bridgeError { _ = try mutate(reply: "null", pad: pad, options: options) }
            #expect(error.message.hasSuffix("the mutation's reply has null at $.data.create"))
            #expect(error.remote?.contains("s3c") == false, "\(error)")
        }
    }
}
