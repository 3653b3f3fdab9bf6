internal import BridgeHost
internal import Model
internal import StoreContract
internal import SystemCalls

/// The limits of bridges that all workers of a database share, as one worker process sees them.
///
/// The worker renews its part of all limits in the store. Each bridge finds it in a file that its options name, and so
/// asks neither the store nor the host before a request.
final class SharedLimits: Sendable {
    /// A bridge whose options set limits.
    private struct Limited: Sendable {
        let name: String
        let share: LimitShare
        /// The most requests at a time; nil if the options do not say.
        let concurrency: Int?
    }

    /// The member of a bridge's options that names the file.
    private static let member = "@share"

    private let bridges: [Limited]
    /// The divisor and the end of the present part.
    private let part = Mutex((divisor: 0, end: 0.0))

    /// Creates the files; nil if the options of no bridge set a limit.
    init?(_ configuration: Configuration) throws {
        bridges = try configuration.bridges.compactMap { bridge -> Limited? in
            let limits = bridge.options["limits"]
            let concurrency: Int? = if case .int(let number)? = limits?["concurrency"] { Int(number) } else { nil }
            guard concurrency != nil || limits?["requests_per_second"] != nil else { return nil }
            do throws(AtomicFile.Failure) {
                return Limited(name: bridge.name, share: try LimitShare.make(), concurrency: concurrency)
            } catch {
                throw BridgeFailure(
                    .internal, "the file of the limits that workers share cannot be made: \(error.words)",
                    bridge: bridge.name, remedy: "make the folder for temporary files writable (TMPDIR)")
            }
        }
        if bridges.isEmpty { return nil }
    }

    /// The members that a bridge's options get.
    func options(for bridge: String) -> [(key: String, value: ConfigValue)] {
        guard let limited = bridges.first(where: { $0.name == bridge }) else { return [] }
        return [(Self.member, .object([("file", .string(limited.share.path))]))]
    }

    /// The most workers that can have a part: each needs a request of its own at each bridge.
    private var places: Int? { bridges.compactMap(\.concurrency).min() }

    /// Whether requests may be made.
    var hasPart: Bool { part.withLock { $0.divisor > 0 && $0.end > LimitShare.now } }

    /// Renews the part of this process.
    func renew(in store: any WorkStore) throws {
        let began = LimitShare.now
        let renewed = try store.renewLimits(places: places) { self.lower(to: $0) }
        set(renewed.divisor, until: began + renewed.validity.seconds)
    }

    /// Ends the part of this process, in the process itself.
    func stop() { set(0, until: 0) }

    private func set(_ divisor: Int, until end: Double) {
        part.withLock { part in
            part = (divisor, end)
            for bridge in bridges { bridge.share.set(divisor: divisor, until: end) }
        }
    }

    /// Makes the part smaller at once.
    ///
    /// - Returns: Whether the requests that are running fit it; if not, those of others have to wait.
    private func lower(to divisor: Int) -> Bool {
        set(divisor, until: part.withLock { $0.end })
        return bridges.allSatisfy { bridge in
            guard let concurrency = bridge.concurrency else { return true }
            return bridge.share.running <= (divisor > 0 ? max(1, concurrency / divisor) : 0)
        }
    }
}

extension Duration {
    fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
