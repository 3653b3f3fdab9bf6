internal import StoreContract

/// The difference between two lists with sections, with the places that a list view needs.
///
/// Sections are identified by their `id`, objects by their keys. The steps are those of a table or collection view, in this
/// order: remove the objects of ``deletions`` and at the origins of ``moves``; remove, move and insert sections; insert the
/// objects of ``insertions`` and at the destinations of ``moves``; redraw ``updates``. The objects of an inserted or deleted
/// section come and go with it, and are not listed.
public struct SectionDifference: Sendable, Hashable {
    /// The place of an object in a list with sections.
    public struct Place: Sendable, Hashable, Comparable {
        /// The section's index.
        public var section: Int
        /// The object's index in the section.
        public var index: Int

        /// Creates a place.
        public init(section: Int, index: Int) {
            self.section = section
            self.index = index
        }

        /// Returns whether a place is before another one.
        public static func < (left: Place, right: Place) -> Bool {
            (left.section, left.index) < (right.section, right.index)
        }
    }

    /// An object or a section that is in both lists.
    public struct Change<Position: Hashable & Sendable>: Sendable, Hashable {
        /// Where it was in the old list.
        public var from: Position
        /// Where it is in the new list.
        public var to: Position

        /// Creates a change.
        public init(from: Position, to: Position) {
            self.from = from
            self.to = to
        }
    }

    /// The deleted sections, as ascending indexes of the old list.
    public private(set) var deletedSections: [Int] = []
    /// The inserted sections, as ascending indexes of the new list.
    public private(set) var insertedSections: [Int] = []
    /// The smallest possible number of sections that change their order.
    public private(set) var movedSections: [Change<Int>] = []
    /// The deleted objects, as ascending places of the old list.
    public private(set) var deletions: [Place] = []
    /// The inserted objects, as ascending places of the new list.
    public private(set) var insertions: [Place] = []
    /// The objects that change their section, or their order in it.
    public private(set) var moves: [Change<Place>] = []
    /// The objects whose values changed.
    public private(set) var updates: [Change<Place>] = []

    /// Whether the lists are the same.
    public var isEmpty: Bool {
        deletedSections.isEmpty && insertedSections.isEmpty && movedSections.isEmpty && deletions.isEmpty
            && insertions.isEmpty && moves.isEmpty && updates.isEmpty
    }

    /// Compares two lists whose sections have different ids, and whose objects have different keys.
    public init<ID, Object>(from old: [ObjectSection<ID, Object>], to new: [ObjectSection<ID, Object>]) {
        let oldSections = Dictionary(old.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        let newSections = Dictionary(new.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        deletedSections = old.indices.filter { newSections[old[$0].id] == nil }
        insertedSections = new.indices.filter { oldSections[new[$0].id] == nil }
        let stayed = new.enumerated().compactMap { index, section in
            oldSections[section.id].map { Change(from: $0, to: index) }
        }
        let isUnmoved = RowDifference.longestAscent(stayed.map(\.from))
        movedSections = zip(stayed, isUnmoved).filter { !$1 }.map(\.0)

        var before: [Object.Key: Place] = [:]
        for (section, content) in old.enumerated() {
            for (index, object) in content.objects.enumerated() {
                before[object.objectKey] = Place(section: section, index: index)
            }
        }
        for change in stayed {
            var inside: [Change<Place>] = []
            for (index, object) in new[change.to].objects.enumerated() {
                let to = Place(section: change.to, index: index)
                guard let from = before[object.objectKey], newSections[old[from.section].id] != nil else {
                    insertions.append(to)
                    continue
                }
                before[object.objectKey] = nil
                let pair = Change(from: from, to: to)
                if from.section == change.from { inside.append(pair) } else { moves.append(pair) }
                if old[from.section].objects[from.index] != object { updates.append(pair) }
            }
            let isUnmoved = RowDifference.longestAscent(inside.map(\.from.index))
            moves += zip(inside, isUnmoved).filter { !$1 }.map(\.0)
        }
        // What is left is gone, or went to an inserted section.
        deletions = before.values.filter { newSections[old[$0.section].id] != nil }.sorted()
    }
}
