internal import Foundation
internal import StoreContract

/// The health file that `bmo watch` writes, as a monitor reads it.
struct HealthFile: Decodable {
    /// `syncing`, `waiting`, `failing` or `stopped`.
    let state: String
    /// When the file was written, as ISO 8601.
    let written: String
    /// Why the last round failed or was skipped.
    let error: String?
    /// The last event other than a failure, such as another file in the database's place.
    let notice: Notice?

    struct Notice: Decodable {
        /// When it happened, as ISO 8601.
        let at: String
        let message: String
    }

    /// The age at which the file is too old, in seconds: a watch writes it at least every 30.
    private static let oldest: Int64 = 90
    /// The seconds by which two clocks may differ.
    private static let tolerance: Int64 = 300

    /// Returns whether the file shows a healthy watch.
    static func finding(path: String) -> Finding {
        let subject = "watch"
        let remedy = "look at the output of the watch; `bmo doctor` without --health examines the rest"
        guard let data = FileManager.default.contents(atPath: path) else {
            return .error(
                subject, "the health file \(path) cannot be read",
                remedy: "start `bmo watch --health \(path)`, and check who may read the file")
        }
        guard let file = try? JSONDecoder().decode(HealthFile.self, from: data) else {
            return .error(subject, "\(path) is not a health file of bmo watch", remedy: "name the file of --health")
        }
        let earliest = Clock.text(secondsAgo: oldest)
        guard file.written >= earliest else {
            return .error(subject, "it has written nothing since \(file.written)", remedy: remedy)
        }
        guard file.written <= Clock.text(secondsAgo: -tolerance) else {
            return .error(
                subject, "its file says that it was written at \(file.written), which is not a time in the past",
                remedy: "check the clock, and that the watch runs")
        }
        return switch file.state {
        case "failing": .error(subject, "the last round failed: \(file.error ?? "no reason is known")", remedy: remedy)
        case "stopped": .error(subject, "it was stopped at \(file.written)", remedy: "start it again")
        case "waiting", "syncing":
            .ok(
                subject,
                "\(file.state), written at \(file.written)" + (file.error.map { ": \($0)" } ?? "")
                    + (file.notice.map { "; at \($0.at): \($0.message)" } ?? ""))
        default: .error(subject, "\(path) has an unknown state: \(file.state)", remedy: remedy)
        }
    }
}
