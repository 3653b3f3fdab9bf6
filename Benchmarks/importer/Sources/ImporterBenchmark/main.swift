// How fast the importer brings rows that lie in memory into SQLite, beside a C++ program that does the least possible.
//
//   ImporterBenchmark [ROUNDS]                   the table of README.md
//   ImporterBenchmark --memory RECORDS           the peak memory of importing so many records
//   ImporterBenchmark --profile SHAPE cold|unchanged ROUNDS     only the importer: for a profiler
import Glibc
import Importer
import Mapping
import Model

let arguments = Array(CommandLine.arguments.dropFirst())
do {
    switch arguments.first {
    case "--memory": try Memory.run(records: arguments.dropFirst().first.flatMap { Int($0) } ?? 10_000_000)
    case "--profile":
        let name = arguments.dropFirst().first ?? "users"
        guard let shape = Shape.all.first(where: { $0.name == name }) else {
            print("shapes: \(Shape.all.map(\.name).joined(separator: ", "))")
            exit(2)
        }
        try Comparison(shape).profile(
            rounds: arguments.dropFirst(3).first.flatMap { Int($0) } ?? 10, isCold: arguments.contains("cold"))
    default:
        let rounds = arguments.first.flatMap { Int($0) } ?? 7
        print("| shape | what | floor µs/row | bmo µs/row | times the floor |")
        print("|---|---|---:|---:|---:|")
        for shape in Shape.all { try Comparison(shape).run(rounds: rounds) }
        try Children.run(rounds: rounds)
    }
} catch {
    print("ImporterBenchmark: \(error)")
    exit(1)
}
