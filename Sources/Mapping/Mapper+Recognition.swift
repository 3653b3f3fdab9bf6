internal import RecordBatch

/// Which entity of a family an object is of.
extension Mapper {
    /// Returns the plan of an object, and whether the object says so by itself.
    ///
    /// The place of an object only says what is expected there.
    func recognize(
        _ object: BatchValue, as expected: ResolvedPlan, _ batch: RecordBatch
    ) throws(Rejection) -> (plan: ResolvedPlan, isTold: Bool) {
        guard let recognition = expected.mapping.recognition else { return (expected, true) }
        do {
            let found = try recognition.plan(for: object)
            return (resolve(found.plan, batch), found.isTold)
        } catch {
            throw Rejection(reason: "\(model.entities[expected.mapping.entity].name): \(error.reason)")
        }
    }
}
