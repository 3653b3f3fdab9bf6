/// How workers divide the limits of bridges among them, as a pure rule: each has one n-th of every limit, or none.
///
/// The parts that have not expired never add up to more than the whole. A part grows only into what the others have
/// given up already, and an expired part is free.
///
/// ```swift
/// let parts = LimitParts([.init(id: "a", divisor: 1)])
/// parts.divisor(for: "b", places: nil)   // 0: "a" still has everything
/// ```
public struct LimitParts: Sendable, Equatable {
    /// A worker and its part.
    public struct Holder: Sendable, Equatable {
        /// The worker's identity.
        public var id: String
        /// By how many its limits are divided; 0 for no part.
        public var divisor: Int

        /// Creates a holder.
        public init(id: String, divisor: Int) {
            self.id = id
            self.divisor = divisor
        }
    }

    /// The workers whose parts have not expired, in the order in which they joined.
    public var holders: [Holder]

    /// Creates the parts of these workers.
    public init(_ holders: [Holder]) { self.holders = holders }

    /// Returns the part that a worker should have now, by how many its limits are divided.
    ///
    /// - Parameters:
    ///   - id: The worker; one that is not among the holders joins as the last.
    ///   - places: The most workers that can have a part; the others wait. Nil for any number.
    public func divisor(for id: String, places: Int?) -> Int {
        var all = holders
        if !all.contains(where: { $0.id == id }) { all.append(Holder(id: id, divisor: 0)) }
        let places = max(1, places ?? .max)
        guard let index = all.firstIndex(where: { $0.id == id }), index < places else { return 0 }
        let fair = min(all.count, places)
        let own = all[index].divisor
        if own > 0, fair >= own { return fair }
        let others = all.filter { $0.id != id && $0.divisor > 0 }.reduce(0) { $0 + 1 / Double($1.divisor) }
        // A rounding error must not keep the last part from its worker.
        return others + 1 / Double(fair) <= 1 + 1e-9 ? fair : own
    }
}

/// The part of all limits that a worker may use, from ``WorkStore/renewLimits(places:lowering:)``.
public struct LimitPart: Sendable, Equatable {
    /// By how many the limits are divided; 0 for no part.
    public var divisor: Int
    /// For how long the part counts, from the beginning of the call that returned it.
    public var validity: Duration

    /// Creates a part.
    public init(divisor: Int, validity: Duration) {
        self.divisor = divisor
        self.validity = validity
    }

    /// No part.
    public static let none = LimitPart(divisor: 0, validity: .zero)
}
