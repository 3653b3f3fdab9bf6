internal import BridgeHTTP
internal import BridgeKit

/// What the options `limits` allow.
extension RESTSource {
    /// The time that `limits.total_time` leaves for the scan.
    var remainingTime: Duration? { client.totalTime.map { $0 - (ContinuousClock.now - began) } }

    /// Refuses to go on when that time is over.
    func checkTime() throws {
        guard let limit = client.totalTime, let remainingTime, remainingTime < .zero else { return }
        throw BridgeError(
            .limit, "\(asked): the scan takes longer than limits.total_time (\(limit.components.seconds) s)",
            remedy: "raise it, or request less")
    }

    /// The limits of a reply and of its records.
    var limits: ReplyLimits { ReplyLimits(bodyBytes: client.maxBodyBytes, recordBytes: client.maxRecordBytes) }
}
