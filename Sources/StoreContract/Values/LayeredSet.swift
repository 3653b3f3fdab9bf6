/// A set that is cheap to copy and then to insert into: a copy shares all layers but the small newest one.
///
/// Full layers are merged when the older one has at most twice as many elements, so that there are few of them: `n`
/// inserts take time in proportion to `n log n`, however many copies are made. See ``LayeredArray`` for the reason.
package struct LayeredSet<Element: Hashable & Sendable>: Sendable {
    private static var layerSize: Int { 1024 }

    /// Disjoint layers, the largest first.
    private var layers: [Set<Element>] = []
    private var newest: Set<Element> = []

    package init() {}

    package var count: Int { layers.reduce(newest.count) { $0 + $1.count } }

    package func contains(_ element: Element) -> Bool {
        newest.contains(element) || layers.contains { $0.contains(element) }
    }

    /// Inserts an element; returns whether it was new.
    @discardableResult
    package mutating func insert(_ element: Element) -> Bool {
        guard !layers.contains(where: { $0.contains(element) }), newest.insert(element).inserted else { return false }
        guard newest.count == Self.layerSize else { return true }
        layers.append(newest)
        newest = []
        while layers.count > 1, layers[layers.count - 2].count <= 2 * layers[layers.count - 1].count {
            let younger = layers.removeLast()
            layers[layers.count - 1].formUnion(younger)
        }
        return true
    }

    /// Removes an element, which may take time in proportion to the size of the set.
    package mutating func remove(_ element: Element) {
        newest.remove(element)
        for index in layers.indices where layers[index].contains(element) { layers[index].remove(element) }
    }
}
