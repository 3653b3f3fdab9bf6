import StoreContract
import Testing

/// Collections whose copies share what they have in common.
@Suite struct LayeredCollectionTests {
    @Test func `a layered set has what a set has`() {
        var generator = SystemRandomNumberGenerator()
        var set = LayeredSet()
        var model: Set<Int64> = []
        for _ in 0..<20_000 {
            let value = Int64.random(in: 0..<9_000, using: &generator)
            if Int.random(in: 0..<50, using: &generator) == 0 {
                set.remove(value)
                model.remove(value)
            } else {
                #expect(set.insert(value) == model.insert(value).inserted)
            }
        }
        #expect(set.count == model.count)
        let differing = (0..<9_000 as Range<Int64>).filter { set.contains($0) != model.contains($0) }
        #expect(differing == [])
    }

    @Test(arguments: [0, 1, 1023, 1024, 1025, 5000])
    func `a copy does not see what is added to the original`(count: Int) {
        var set = LayeredSet()
        var array = LayeredArray<Int>()
        for value in 0..<count {
            set.insert(Int64(value))
            array.append(value)
        }
        let (setCopy, arrayCopy) = (set, array)
        for value in count..<count + 3000 {
            set.insert(Int64(value))
            array.append(value)
        }
        #expect(setCopy.count == count && !setCopy.contains(Int64(count)))
        #expect(Array(arrayCopy) == Array(0..<count))
        #expect(set.count == count + 3000 && Array(array) == Array(0..<count + 3000))
        #expect(Array(array[count...]) == Array(count..<count + 3000))
        #expect(array.elements(from: count) == Array(count..<count + 3000))
    }

    @Test(arguments: [0, 1, 1023, 1024, 1025, 5000])
    func `many elements can be appended at once`(count: Int) {
        var array = LayeredArray<Int>()
        array.append(contentsOf: Array(0..<count))
        array.append(contentsOf: Array(count..<count + 1500))
        #expect(Array(array) == Array(0..<count + 1500))
        #expect(array.elements(from: 0) == Array(0..<count + 1500))
    }

    @Test func `a set finds numbers in any order of insertion`() {
        let many: [Int64] = (0..<5000).map { $0 }
        let orders: [[Int64]] = [many, Array(many.reversed()), [.max, .min, 0, -1]]
        for numbers in orders {
            var set = LayeredSet()
            for number in numbers { #expect(set.insert(number) == true) }
            #expect(set.count == numbers.count)
            #expect(numbers.filter { !set.contains($0) } == [])
            #expect(set.insert(numbers[0]) == false && !set.contains(5001))
        }
    }

    @Test func `a set has runs of numbers, also after some were removed from them`() {
        var generator = SystemRandomNumberGenerator()
        var set = LayeredSet()
        var model: Set<Int64> = []
        for _ in 0..<300 {
            let start = Int64.random(in: 0..<20_000, using: &generator)
            for number in start..<start + Int64.random(in: 1..<200, using: &generator) {
                #expect(set.insert(number) == model.insert(number).inserted)
            }
            let removed = start + Int64.random(in: 0..<200, using: &generator)
            set.remove(removed)
            model.remove(removed)
        }
        #expect(set.count == model.count)
        #expect((0..<20_300 as Range<Int64>).filter { set.contains($0) != model.contains($0) } == [])
        #expect(set.ranges(atMost: 10_000)?.flatMap { Array($0) } == model.sorted())
    }

    @Test func `a set has the ranges of its numbers`() {
        var generator = SystemRandomNumberGenerator()
        var set = LayeredSet()
        #expect(set.ranges(atMost: 0) == [])
        var model: Set<Int64> = []
        for _ in 0..<20_000 {
            let value = Int64.random(in: 0..<30_000, using: &generator)
            set.insert(value)
            model.insert(value)
        }
        let ranges = set.ranges(atMost: .max / 2) ?? []
        #expect(ranges.flatMap { Array($0) } == model.sorted())
        #expect(zip(ranges, ranges.dropFirst()).filter { $0.upperBound + 1 >= $1.lowerBound }.count == 0)
        #expect(set.ranges(atMost: ranges.count) == ranges)
        #expect(set.ranges(atMost: ranges.count - 1) == nil)
    }

    @Test func `the ends of all numbers belong to ranges too`() {
        var set = LayeredSet()
        for number in [.max, .min, .max - 1, 0, 1] as [Int64] { set.insert(number) }
        let expected: [ClosedRange<Int64>] = [.min ... .min, 0...1, .max - 1 ... .max]
        #expect(set.ranges(atMost: 9) == expected)
    }
}
