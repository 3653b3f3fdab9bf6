/// The shapes of a document's named schemas that were found so far: many replies lead to the same ones.
final class ShapeMemo {
    /// A reference below schemas without a name, where its shape depends on nothing but its depth.
    struct Place: Hashable {
        let reference: String
        let depth: Int
    }

    private struct Known {
        let shape: ValueShape
        /// The budget of shapes before and after it.
        let before: Int
        let after: Int
    }

    private var shapes: [Place: Known] = [:]
    private var count = 0
    /// The maximum number of shapes that are kept, with those inside; further ones are found anew each time.
    private static let maxShapes = 1_000_000

    /// Returns a known shape, and takes what it costs from the budget; nil if it must be found.
    func shape(at place: Place, _ budget: inout Int) -> ValueShape? {
        guard let known = shapes[place] else { return nil }
        let cost = known.before - known.after
        // What was cut off for lack of budget is the same with the same budget alone.
        guard known.before == budget || known.after > 0 && budget > cost else { return nil }
        budget -= cost
        return known.shape
    }

    /// Keeps a shape that was found.
    func keep(_ shape: ValueShape, at place: Place, before: Int, after: Int) {
        guard count + before - after <= Self.maxShapes else { return }
        count += before - after
        shapes[place] = Known(shape: shape, before: before, after: after)
    }
}
