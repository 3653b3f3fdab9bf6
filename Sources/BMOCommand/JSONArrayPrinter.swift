/// Prints a JSON array as it comes, an element a line.
struct JSONArrayPrinter {
    private var isEmpty = true

    mutating func add(_ element: String) {
        print((isEmpty ? "[\n" : ",\n") + element, terminator: "")
        isEmpty = false
    }

    func finish() { print(isEmpty ? "[]" : "\n]") }
}
