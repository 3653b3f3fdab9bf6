internal import SystemCalls

/// The jobs whose files were written anew while they were read: the scan that starts over reads them once more.
///
/// Each job may be costly, or one of few that an API makes in a day.
final class StartedOverJobs: Sendable {
    private let jobs = Mutex<[String: (job: ExportSource.Job, end: ContinuousClock.Instant)]>([:])

    /// For how long a job is kept: the host starts over at once, and a later sync wants newer files.
    private static let time: Duration = .seconds(30)

    func keep(_ job: ExportSource.Job, now: ContinuousClock.Instant = .now) {
        jobs.withLock { jobs in
            jobs = jobs.filter { $0.value.end > now }
            jobs[job.digest] = (job, now + Self.time)
        }
    }

    /// Takes the job that a request created.
    func take(_ digest: String, now: ContinuousClock.Instant = .now) -> ExportSource.Job? {
        guard let kept = jobs.withLock({ $0.removeValue(forKey: digest) }), kept.end > now else { return nil }
        return kept.job
    }
}
