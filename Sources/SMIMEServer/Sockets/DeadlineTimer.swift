import NIOCore

/// Calls an action if an expected event does not happen in time, such as a byte on a connection or the end of a job.
///
/// Every byte and every job changes the deadline. To save work, the scheduled task is not replaced each time; if it runs
/// before the deadline, it is scheduled again.
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

    /// Calls the action after `time`, unless the timer is set again before. With nil the action is not called.
    func set(_ time: Duration?) {
        guard let time else { return disarm() }
        set(TimeAmount(time))
    }

    /// Calls the action after `time`, unless the timer is set again before.
    func set(_ time: TimeAmount) {
        let deadline = NIODeadline.now() + time
        self.deadline = deadline
        if scheduled == nil || deadline < scheduledFor { schedule(deadline) }
    }

    /// Removes the deadline. The timer can be set again.
    func disarm() { deadline = nil }

    /// Removes the deadline and the scheduled task, when the timer is no longer needed.
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
