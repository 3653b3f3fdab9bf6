import StoreContract
import Testing

/// Collections whose copies share what they have in common.
@Suite struct LayeredCollectionTests {
    @Test func `a layered set has what a set has`() {
        var generator = SystemRandomNumberGenerator()
        var set = LayeredSet<Int>()
        var model: Set<Int> = []
        for _ in 0..<20_000 {
            let value = Int.random(in: 0..<9_000, using: &generator)
            if Int.random(in: 0..<50, using: &generator) == 0 {
                set.remove(value)
                model.remove(value)
            } else {
                #expect(set.insert(value) == model.insert(value).inserted)
            }
        }
        #expect(set.count == model.count)
        let differing = (0..<9_000).filter { set.contains($0) != model.contains($0) }
        #expect(differing == [])
    }

    @Test(arguments: [0, 1, 1023, 1024, 1025, 5000])
    func `a copy does not see what is added to the original`(count: Int) {
        var set = LayeredSet<Int>()
        var array = LayeredArray<Int>()
        for value in 0..<count {
            set.insert(value)
            array.append(value)
        }
        let (setCopy, arrayCopy) = (set, array)
        for value in count..<count + 3000 {
            set.insert(value)
            array.append(value)
        }
        #expect(setCopy.count == count && !setCopy.contains(count))
        #expect(Array(arrayCopy) == Array(0..<count))
        #expect(set.count == count + 3000 && Array(array) == Array(0..<count + 3000))
        #expect(Array(array[count...]) == Array(count..<count + 3000))
    }
}
