internal import BMO
internal import SystemCalls
internal import WebPage

/// A web interface that gets new configurations while it runs.
final class SiteReloads: Sendable {
    private let current = Mutex<WebSite?>(nil)
    /// The web interfaces of earlier configurations, which end in the background.
    private let ends = Mutex<[Task<Void, Never>]>([])

    /// The web interface of the last configuration; nil before the first one.
    var site: WebSite? { current.withLock { $0 } }

    /// Notes the first web interface.
    func begin(with site: WebSite) { current.withLock { $0 = site } }

    /// Replaces the web interface by that of a new configuration; does nothing without one.
    func reload(_ workspace: Workspace, hooks: HookReceiver?) {
        let earlier = current.withLock { current -> WebSite? in
            guard let earlier = current else { return nil }
            current = earlier.replacement(for: workspace, hooks: hooks)
            return earlier
        }
        guard let earlier else { return }
        ends.withLock { $0.append(Task { await earlier.close() }) }
    }

    /// Follows a configuration's file, beside no watch, until the task is cancelled.
    func follow(_ configuration: FollowedConfiguration) async {
        await configuration.follow(
            mayReload: {
                // A sync that was begun in the browser ends with its own configuration.
                while site?.isBusy == true, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(500)) }
            },
            onReload: { next in reload(next, hooks: nil) },
            report: { words, isTrouble in
                Terminal.error(words, prefix: isTrouble ? "bmo: warning: " : "bmo: note: ")
            })
    }

    /// Closes the web interface.
    @Sendable func close() async {
        for end in ends.withLock({ $0 }) { await end.value }
        await site?.close()
    }
}
