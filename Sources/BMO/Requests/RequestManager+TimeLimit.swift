extension RequestManager {
    /// Runs `body`, which the request's time limit cancels.
    ///
    /// - Throws: The errors of `body`, and once it has ended that of the time limit.
    func withinTimeLimit<Result: Sendable>(
        of request: ObjectRequest, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        guard let limit = request.timeLimit else { return try await body() }
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await body() }
            group.addTask { [stopwatch] in
                try await stopwatch.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            if let first = try await group.next(), let result = first { return result }
            group.cancelAll()
            if let last = try? await group.next(), let result = last { return result }
            try Task.checkCancellation()
            throw RequestError.deadline(of: request, limit)
        }
    }
}

extension RequestError {
    /// Returns the error of a request that took longer than its time limit.
    static func deadline(of request: ObjectRequest, _ limit: Duration) -> RequestError {
        var error = RequestError(
            .translating, entity: request.entity, code: deadlineCode,
            "the request took longer than its time limit of \(limit)",
            remedy: "what was imported before is in the database; try again, or give it more time")
        error.isRetryable = true
        error.userInfo = request.userInfo
        return error
    }
}
