import NIOCore

/// Calls an action if something does not happen in time: a byte on a connection, or the end of a job.
///
/// Every byte and every job moves the deadline, so the scheduled task is only made anew when it fires too early.
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
        guard let time else { return disarm() }
        set(TimeAmount(time))
    }

    /// Calls the action after `time` from now, unless this is called again before.
    func set(_ time: TimeAmount) {
        let deadline = NIODeadline.now() + time
        self.deadline = deadline
        if scheduled == nil || deadline < scheduledFor { schedule(deadline) }
    }

    /// Waits for nothing, until a time is set again.
    func disarm() { deadline = nil }

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
