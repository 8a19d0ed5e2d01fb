import Foundation
import InternetMessage
import SMIME
import SMIMEStore
import Synchronization

extension Store {
    /// Sends the messages that result from one mail, each to the recipients who have not received it according to the journal,
    /// and records who has received it. Waits while another task or process sends the same mail.
    ///
    /// If the task is cancelled, the message that `send` is sending is still recorded, and the next ones are not sent.
    ///
    /// - Parameters:
    ///   - groups: the recipients of each message.
    ///   - entry: identifies the mail in the journal.
    ///   - timeout: how many times to retry recording, once a second, for example while another process uses the database.
    ///     A write error, such as a full disk, is not retried.
    ///   - warn: called if some recipients could not be recorded.
    ///   - send: sends the message with this index to these recipients.
    /// - Throws: `KeystoreError`; the first error of `send`, after all messages were tried; `CancellationError`.
    func send(
        to groups: [[String]],
        of entry: DeliveryJournal.Entry,
        at time: Date,
        timeout: Int,
        warn: @escaping @Sendable (String) -> Void,
        by send: @escaping @Sendable (_ index: Int, _ recipients: [String]) async throws -> Void
    ) async throws {
        // In a cancelled task nothing could be recorded any more, and the pauses between two attempts to record would be
        // skipped, so another task sends.
        let isCancelled = Mutex(false)
        let sending = Task(executorPreference: SMIMEExecutor.shared) { [self] in
            try await sendUncancelled(to: groups, of: entry, at: time, timeout: timeout, warn: warn) { index, waiting in
                if isCancelled.withLock({ $0 }) { throw CancellationError() }
                try await send(index, waiting)
            }
        }
        try await withTaskCancellationHandler {
            try await sending.value
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }

    private func sendUncancelled(
        to groups: [[String]],
        of entry: DeliveryJournal.Entry,
        at time: Date,
        timeout: Int,
        warn: (String) -> Void,
        by send: (_ index: Int, _ recipients: [String]) async throws -> Void
    ) async throws {
        let lock = try await DeliveryLock(location, for: entry)
        var unrecorded: [String] = []
        var failure: (any Error)?
        var recordingError: KeystoreError?
        func record() async {
            do throws(KeystoreError) {
                try await journal.record(unrecorded, of: entry, at: time)
                (unrecorded, recordingError) = ([], nil)
            } catch { recordingError = error }
        }
        do {
            for (index, recipients) in groups.enumerated() {
                let served = try await journal.deliveredRecipients(of: entry)
                let waiting = recipients.filter { !served.contains(ExactText($0)) }
                guard !waiting.isEmpty else { continue }
                // A refused message must not prevent the others from being sent: they might never be sent otherwise.
                do { try await send(index, waiting) } catch {
                    failure = failure ?? error
                    continue
                }
                unrecorded += waiting
                // A failure to write the record must not delay the other messages.
                await record()
            }
        } catch { failure = failure ?? error }
        // Another attempt must know which recipients have received the message. There is another attempt even after success,
        // if this process is killed before the mail server learns of the success.
        for _ in 0..<timeout {
            guard let recordingError, !recordingError.isWriteFailure else { break }
            try? await Task.sleep(for: .seconds(1))
            await record()
        }
        _ = consume lock
        if let recordingError {
            warn("the delivery is not recorded, so another attempt would send it again: \(recordingError)")
        }
        if let failure { throw failure }
    }
}

extension KeystoreError {
    /// Whether the disk is full or faulty, so that waiting does not help.
    fileprivate var isWriteFailure: Bool {
        guard case .writeFailed = self else { return false }
        return true
    }
}
