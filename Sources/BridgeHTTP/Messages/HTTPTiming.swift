public import BridgeKit

/// The time and speed limits for a remote: options of the bridge, which an entity's section may override.
public struct HTTPTiming: Sendable, Equatable {
    /// Seconds from the request to the beginning of the reply.
    public var firstByte = 30.0
    /// The minimum bytes per second of a reply; 0 for any speed.
    public var minimumSpeed = 1024
    /// Seconds over which the speed is measured.
    public var speedTime = 30.0
    /// The time limit in seconds for a whole request; nil for none.
    public var whole: Double?

    /// Creates the defaults.
    public init() {}

    /// The members of a JSON Schema's `properties`, without the braces, for options and sections.
    public static let schemaProperties = #"""
        "timeout": {"type": "number", "minimum": 0.001, "description": "Seconds that a whole request may take; default: no limit."},
        "first_byte_timeout": {"type": "number", "minimum": 0.1, "default": 30, "description": "Seconds until a reply begins."},
        "minimum_speed": {"type": "integer", "minimum": 0, "default": 1024, "description": "Bytes a second, as they come on the wire, below which a reply is abandoned; 0 for none. Time in which bmo itself does not read does not count."},
        "minimum_speed_time": {"type": "number", "minimum": 0.1, "default": 30, "description": "Seconds over which the speed is measured."}
        """#

    /// Returns these limits, overridden by `options`.
    ///
    /// - Throws: `BridgeError` with code `configuration` and the option's name.
    public func replaced(by options: BridgeOptions) throws -> HTTPTiming {
        var timing = self
        // A configuration that raised the older `idle_timeout` has slow servers.
        if let idle = options.integer("idle_timeout").map(Double.init) {
            timing.firstByte = max(timing.firstByte, idle)
            timing.speedTime = max(timing.speedTime, idle)
        }
        timing.firstByte = try Self.seconds(options, "first_byte_timeout", least: 0.1) ?? timing.firstByte
        timing.speedTime = try Self.seconds(options, "minimum_speed_time", least: 0.1) ?? timing.speedTime
        timing.whole = try Self.seconds(options, "timeout", least: 0.001) ?? timing.whole
        timing.minimumSpeed = options.integer("minimum_speed") ?? timing.minimumSpeed
        guard timing.minimumSpeed >= 0 else {
            throw BridgeError(
                .configuration, "minimum_speed is \(timing.minimumSpeed)", remedy: "use bytes a second, or 0 for none")
        }
        return timing
    }

    private static func seconds(_ options: BridgeOptions, _ name: String, least: Double) throws -> Double? {
        guard let seconds = options.number(name) else { return nil }
        guard seconds >= least, seconds <= 2_000_000 else {
            throw BridgeError(
                .configuration, "\(name) is \(seconds) seconds", remedy: "use a number from \(least) to 2000000")
        }
        return seconds
    }
}
