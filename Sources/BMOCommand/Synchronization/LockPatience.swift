internal import ArgumentParser
internal import SQLiteStore

/// The value of `--wait`: none, or a time such as `30s`, `5m`, `1h`.
struct LockPatience: ExpressibleByArgument, CustomStringConvertible {
    static let unlimited = LockPatience(patience: .unlimited, description: "as long as it takes")

    let patience: FileLock.Patience
    let description: String

    private init(patience: FileLock.Patience, description: String) {
        self.patience = patience
        self.description = description
    }

    init?(argument: String) {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600]
        guard let unit = argument.last.flatMap({ units[$0] }), let count = Int(argument.dropLast()), count >= 0,
            count <= 1_000_000
        else { return nil }
        self.init(patience: .atMost(.seconds(count * unit)), description: argument)
    }
}
