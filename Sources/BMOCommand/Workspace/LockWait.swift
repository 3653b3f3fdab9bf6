internal import ArgumentParser
internal import StoreContract

/// The value of `--wait`: none, or a time such as `30s`, `5m`, `1h`.
struct LockWait: ExpressibleByArgument, CustomStringConvertible {
    static let unlimited = LockWait(timeout: .unlimited, description: "as long as it takes")

    let timeout: LockTimeout
    let description: String

    private init(timeout: LockTimeout, description: String) {
        self.timeout = timeout
        self.description = description
    }

    init?(argument: String) {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600]
        guard let unit = argument.last.flatMap({ units[$0] }), let count = Int(argument.dropLast()), count >= 0,
            count <= 1_000_000
        else { return nil }
        self.init(timeout: .atMost(.seconds(count * unit)), description: argument)
    }
}
