/// A set that is cheap to copy and then to insert into: a copy shares all layers but the small newest one.
///
/// Full layers are merged when the older one has at most twice as many elements, so that there are few of them: `n`
/// inserts take time in proportion to `n log n`, however many copies are made. See ``LayeredArray`` for the reason.
package struct LayeredSet<Element: Hashable & Comparable & Sendable>: Sendable {
    @inlinable static var layerSize: Int { 1024 }

    /// A set that is searched only for elements between its least and its greatest: numbers are mostly inserted in order.
    @usableFromInline
    struct Layer: Sendable {
        @usableFromInline var elements: Set<Element>
        @usableFromInline var bounds: ClosedRange<Element>

        @inlinable
        init(_ elements: Set<Element>, _ bounds: ClosedRange<Element>) {
            self.elements = elements
            self.bounds = bounds
        }

        @inlinable
        func contains(_ element: Element) -> Bool { bounds.contains(element) && elements.contains(element) }

        @inlinable
        mutating func formUnion(_ other: Layer) {
            elements.formUnion(other.elements)
            bounds =
                min(bounds.lowerBound, other.bounds.lowerBound)...max(bounds.upperBound, other.bounds.upperBound)
        }
    }

    /// Disjoint layers, the largest first.
    @usableFromInline var layers: [Layer] = []
    @usableFromInline var newest: Set<Element> = []

    @inlinable package init() {}

    @inlinable package var count: Int { layers.reduce(newest.count) { $0 + $1.elements.count } }

    @inlinable
    package func contains(_ element: Element) -> Bool {
        newest.contains(element) || layers.contains { $0.contains(element) }
    }

    /// Inserts an element; returns whether it was new.
    @discardableResult
    @inlinable
    package mutating func insert(_ element: Element) -> Bool {
        guard !layers.contains(where: { $0.contains(element) }), newest.insert(element).inserted else { return false }
        guard newest.count == Self.layerSize, let least = newest.min(), let greatest = newest.max() else { return true }
        layers.append(Layer(newest, least...greatest))
        newest = []
        while layers.count > 1, layers[layers.count - 2].elements.count <= 2 * layers[layers.count - 1].elements.count {
            let younger = layers.removeLast()
            layers[layers.count - 1].formUnion(younger)
        }
        return true
    }

    /// Removes an element, which may take time in proportion to the size of the set.
    @inlinable
    package mutating func remove(_ element: Element) {
        newest.remove(element)
        for index in layers.indices where layers[index].contains(element) { layers[index].elements.remove(element) }
    }
}
