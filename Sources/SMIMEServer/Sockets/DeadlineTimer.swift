import NIOCore

/// Calls an action if a connection sends nothing for too long.
///
/// Every byte moves the deadline, so the scheduled task is only made anew when it fires too early.
final class DeadlineTimer {
    private let loop: any EventLoop
    private let action: () -> Void
    private var deadline: NIODeadline?
    private var scheduled: Scheduled<Void>?
    private var scheduledFor = NIODeadline.distantFuture

    init(on loop: any EventLoop, _ action: @escaping () -> Void) {
        self.loop = loop
        self.action = action
    }

    /// Calls the action after `time` from now, unless this is called again before; nil waits for ever.
    func set(_ time: Duration?) {
        guard let time else {
            deadline = nil
            return
        }
        let deadline = NIODeadline.now() + TimeAmount(time)
        self.deadline = deadline
        if scheduled == nil || deadline < scheduledFor { schedule(deadline) }
    }

    /// Ends the timer for good.
    func cancel() {
        deadline = nil
        scheduled?.cancel()
        scheduled = nil
    }

    private func schedule(_ time: NIODeadline) {
        scheduled?.cancel()
        scheduledFor = time
        scheduled = loop.assumeIsolated().scheduleTask(deadline: time) { [self] in fire() }
    }

    private func fire() {
        scheduled = nil
        guard let deadline else { return }
        guard deadline <= .now() else { return schedule(deadline) }
        self.deadline = nil
        action()
    }
}
