// Metrics in the text exposition format of Prometheus, version 0.0.4, for the textfile collector of node_exporter
// (https://prometheus.io/docs/instrumenting/exposition_formats/). Labels are names of the configuration and words of
// bmo, never values of records.

/// A metric of bmo, by its name in the format.
enum Metric: String, CaseIterable {
    case build = "bmo_build_info"
    case rows = "bmo_rows"
    case stubs = "bmo_stubs"
    case quarantined = "bmo_quarantine_records"
    case cursorAge = "bmo_cursor_age_seconds"
    case outbox = "bmo_outbox_entries"
    case oldestEdit = "bmo_oldest_pending_edit_seconds"
    case conflicts = "bmo_conflicts"
    case lastSuccess = "bmo_sync_last_success_timestamp_seconds"
    case syncDuration = "bmo_sync_duration_seconds"
    case incomplete = "bmo_incomplete"
    case deletionsHeld = "bmo_brake_held"
    case records = "bmo_records_total"
    case changes = "bmo_changes_total"
    case failures = "bmo_sync_failures_total"
    case pushed = "bmo_pushed_edits_total"
    case requests = "bmo_requests_total"
    case durationBucket = "bmo_request_duration_seconds_bucket"
    case durationSum = "bmo_request_duration_seconds_sum"
    case durationCount = "bmo_request_duration_seconds_count"
    case rateLimited = "bmo_rate_limited_seconds_total"

    /// The kinds of metrics that bmo uses.
    enum Kind: String {
        case counter, gauge, histogram
    }

    var kind: Kind {
        switch self {
        case .durationBucket, .durationSum, .durationCount: .histogram
        default: rawValue.hasSuffix("_total") ? .counter : .gauge
        }
    }

    /// The name in the HELP and TYPE lines: the series of a histogram share one.
    var family: String { kind == .histogram ? "bmo_request_duration_seconds" : rawValue }

    /// Whether a sync that does not set the metric keeps the value in the file.
    var isKept: Bool {
        switch self {
        case .lastSuccess, .syncDuration, .incomplete, .deletionsHeld: true
        default: kind != .gauge
        }
    }

    /// The text of its HELP line.
    var help: String {
        switch self {
        case .build: "The version of bmo that wrote this file; always 1."
        case .rows: "The rows of an entity, without stubs."
        case .stubs: "The objects of an entity that are known only by their key."
        case .quarantined: "The records of an entity that could not be imported."
        case .cursorAge: "The age of the newest value of the incremental field of an entity."
        case .outbox: "The local edits in the outbox."
        case .oldestEdit: "The age of the oldest edit in the outbox; 0 without edits."
        case .conflicts: "The conflicts that wait for a decision."
        case .lastSuccess: "When the last successful sync of an entity ended."
        case .syncDuration: "The duration of the last sync of an entity."
        case .incomplete: "Whether the last listing of an entity was incomplete, so that nothing was deleted."
        case .deletionsHeld:
            "Whether the last sync of an entity exceeded its deletion limit, so that nothing was deleted."
        case .records: "The records that syncs of an entity received."
        case .changes: "The changes that syncs made to the objects of an entity."
        case .failures: "The failed syncs of an entity; without an entity, those that failed as a whole."
        case .pushed: "The edits of pushes, by outcome."
        case .requests: "The requests of syncs and pushes to a bridge's remote, by outcome."
        case .durationBucket, .durationSum, .durationCount:
            "The time from the start of a request to the head of the reply or the failure."
        case .rateLimited: "The time in which requests waited for a rate limit, that of the options or the remote's."
        }
    }
}
