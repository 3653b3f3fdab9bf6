/// Prints a JSON array incrementally, one element per line.
struct JSONArrayPrinter {
    private var isEmpty = true

    mutating func add(_ element: String) {
        print((isEmpty ? "[\n" : ",\n") + element, terminator: "")
        isEmpty = false
    }

    func finish() { print(isEmpty ? "[]" : "\n]") }
}
