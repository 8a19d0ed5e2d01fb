import Foundation
public import SMIME
import SMIMEAgent
import SMIMEStore
import Synchronization

extension Gateway {
    /// Sends all messages that result from one mail, so that each recipient receives it once.
    ///
    /// The store records which recipients have received their message. If this throws, create the deliveries again later and
    /// send them with the same `queueID`: recipients who have received the message are left out. If a message is not
    /// accepted, the others are still sent. On one host, only one task or process at a time sends the same mail.
    ///
    /// If the task is cancelled, the message that `transport` is sending is still recorded, and the next ones are not sent.
    /// The call still waits for that record, and for another task that sends the same mail.
    ///
    /// - Parameters:
    ///   - deliveries: the result of `outgoing` or `incoming`.
    ///   - mail: the mail that was passed to `outgoing` or `incoming`, as received.
    ///   - queueID: the caller's name for the mail, the same in all attempts. A recipient gets mail with the same name and
    ///     bytes only once in 30 days.
    ///   - transport: sends the messages.
    /// - Returns: sentences for the administrator's log. They say that a record could not be written, so that another attempt
    ///   would send the mail again.
    /// - Throws: `.transport` with the error of `transport` as the `underlyingError`; an `SMIMEError` that `transport` throws;
    ///   `.storeReadOnly`, `.storeUnusable`; `.storeBusy` if another task or process has been sending the mail for 30 seconds;
    ///   `.file` for a full disk; `.cancelled`. Nothing was sent if the store could not be written at the beginning.
    @discardableResult
    public func send(
        _ deliveries: [Delivery],
        of mail: Message,
        queueID: String,
        through transport: some MailTransport
    ) async throws(SMIMEError) -> [String] {
        // In a cancelled task nothing could be recorded any more, so another task sends.
        let isCancelled = Mutex(false)
        let sending = Task(executorPreference: SMIMEExecutor.shared) {
            try await send(deliveries, of: mail, queueID: queueID) { delivery in
                if isCancelled.withLock({ $0 }) { throw CancellationError() }
                try await transport.send(delivery)
            }
        }
        do {
            return try await withTaskCancellationHandler {
                try await sending.value
            } onCancel: {
                isCancelled.withLock { $0 = true }
            }
        } catch { throw SMIMEError(error) }
    }

    private func send(
        _ deliveries: [Delivery],
        of mail: Message,
        queueID: String,
        by transport: (Delivery) async throws -> Void
    ) async throws -> [String] {
        let warnings = WarningList()
        let entry = try DeliveryJournal.Entry(queueID: queueID, of: mail.settledMessage().source)
        // A record that cannot be written must be noticed before anything is sent.
        try await engine.store.journal.check(at: .now)
        try await engine.store.send(
            to: deliveries.map(\.recipients),
            of: entry,
            at: .now,
            timeout: 60,
            warn: { warnings.add($0) }
        ) { index, recipients in
            do { try await transport(deliveries[index].forSome(recipients)) } catch {
                throw SMIMEError(thrownByTransport: error)
            }
        }
        return warnings.all
    }
}

extension Gateway.Delivery {
    /// The same message for some of its recipients.
    fileprivate func forSome(_ recipients: [String]) -> Self {
        Self(message: message, recipients: recipients, sender: sender, warnings: warnings)
    }
}

extension SMIMEError {
    /// Converts an error that a caller's transport threw.
    fileprivate init(thrownByTransport error: any Error) {
        switch error {
        case is SMIMEError, is CancellationError: self.init(error)
        default: self.init(.transport, "\(error)", underlyingError: error)
        }
    }
}
