import Mapping
import SQLiteStore
import StoreContract
import Testing

/// What leads from one list to another, applied as a list on a screen applies it.
@Suite struct RowDifferenceTests {
    private func rows(_ text: String) -> [EntityRow] {
        // `a b1` is a row with the key a, and one with the key b and the value 1.
        text.split(separator: " ").map { word in
            EntityRow(
                key: [.text(String(word.prefix(1)))],
                values: [.text(String(word.prefix(1))), .text(String(word.dropFirst()))])
        }
    }

    private func text(_ old: String, _ new: String) -> String {
        let difference = RowDifference(from: rows(old), to: rows(new))
        return
            (difference.deletions.map { "-\($0)" } + difference.insertions.map { "+\($0)" }
            + difference.moves.map { "\($0.from)>\($0.to)" }
            + difference.updates.map { "\($0.from)~\($0.to)\($0.fields)" }).joined(separator: " ")
    }

    @Test(arguments: [
        ("", "", ""), ("a b", "a b", ""), ("", "a b", "+0 +1"), ("a b", "", "-0 -1"), ("a b c", "a c", "-1"),
        ("a c", "a b c", "+1"), ("a b c", "a b1 c", "1~1[1]"), ("a b c d", "d a b c", "3>0"),
        ("a b c d", "b c d a", "0>3"), ("a b c", "c b a", "2>0 1>1"), ("a b c", "x c1 a", "-1 +0 2>1 2~1[1]"),
        ("a b", "b1 a", "1>0 1~0[1]"),
    ])
    func `a small change takes few steps`(_ example: (old: String, new: String, difference: String)) {
        #expect(text(example.old, example.new) == example.difference)
        #expect(RowDifference(from: rows(example.old), to: rows(example.new)).isEmpty == example.difference.isEmpty)
    }

    @Test(arguments: 0..<300 as Range<UInt64>)
    func `the steps lead from one list to the other`(_ seed: UInt64) {
        var state = seed &* 0x9E37_79B9_7F4A_7C15
        func below(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(limit))
        }
        func list() -> [EntityRow] {
            var keys = Array(0..<20).filter { _ in below(3) > 0 }
            for _ in 0..<below(4) where !keys.isEmpty { keys.swapAt(below(keys.count), below(keys.count)) }
            return keys.map {
                EntityRow(key: [.integer(Int64($0))], values: [.integer(Int64($0)), .integer(Int64(below(3)))])
            }
        }
        let old = list()
        let new = list()
        let difference = RowDifference(from: old, to: new)
        #expect(Self.apply(difference, to: old, fillingFrom: new) == new, "seed \(seed)")
        let places = Dictionary(uniqueKeysWithValues: old.enumerated().map { ($1.key, $0) })
        let stayed = new.compactMap { places[$0.key] }
        #expect(difference.moves.count == stayed.count - Self.longestAscent(stayed), "as few moves as there can be")
    }

    /// As a list on a screen: takes out, puts in, and fills what stays in its order.
    private static func apply(
        _ difference: RowDifference, to old: [EntityRow], fillingFrom new: [EntityRow]
    ) -> [EntityRow] {
        var changed = old
        for update in difference.updates {
            for field in update.fields { changed[update.from].values[field] = new[update.to].values[field] }
        }
        let gone = Set(difference.deletions + difference.moves.map(\.from))
        var rest = changed.enumerated().filter { !gone.contains($0.offset) }.map(\.element)[...]
        let moved = Dictionary(uniqueKeysWithValues: difference.moves.map { ($0.to, $0.from) })
        let inserted = Set(difference.insertions)
        return (0..<old.count - difference.deletions.count + inserted.count).compactMap { index in
            if inserted.contains(index) { return new[index] }
            return moved[index].map { changed[$0] } ?? rest.popFirst()
        }
    }

    private static func longestAscent(_ numbers: [Int]) -> Int {
        var best: [Int] = []
        for (index, number) in numbers.enumerated() {
            best.append(1 + (numbers[..<index].enumerated().filter { $1 < number }.map { best[$0.offset] }.max() ?? 0))
        }
        return best.max() ?? 0
    }
}
