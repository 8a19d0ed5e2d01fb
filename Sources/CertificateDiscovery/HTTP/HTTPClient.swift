import Foundation
import LibCrypto
import PKIX

/// Asks services on the network, within limits.
package struct HTTPClient: Sendable {
    /// How long one answer may take, looking up the name and connecting included.
    package var timeLimit: Duration
    /// The greatest answer that is taken, in bytes.
    package var maximumCount: Int
    /// The same, where nothing else is said.
    package static let maximumCount = 10 << 20
    /// Whether services in networks that are not public are asked, too.
    package var allowsPrivateAddresses: Bool

    package init(
        timeLimit: Duration = .seconds(5),
        maximumCount: Int = HTTPClient.maximumCount,
        allowsPrivateAddresses: Bool = false
    ) {
        self.timeLimit = timeLimit
        self.maximumCount = maximumCount
        self.allowsPrivateAddresses = allowsPrivateAddresses
    }

    /// Asks for what lies at `url`, or posts `content` there, and gives the DER element in the answer. A redirection is no
    /// answer.
    ///
    /// Ends when the time is over or the task is cancelled, whatever the peer does.
    package func ask(
        _ url: ServiceURL,
        posting content: (type: String, bytes: [UInt8])? = nil,
        expecting type: String? = nil
    ) async -> Result<[UInt8], RevocationError> {
        let exchange = HTTPExchange(
            host: url.authority,
            path: url.path,
            content: content,
            expectedType: type,
            maximumCount: maximumCount
        )
        let connection = Connection()
        let answer = Promise<Result<[UInt8], RevocationError>>()
        let deadline = ContinuousClock.now + timeLimit
        let alarm = Task {
            try await Task.sleep(until: deadline, clock: .continuous)
            answer.give(.failure(.timeLimit))
            connection.cut()
        }
        defer { alarm.cancel() }
        return await withTaskCancellationHandler {
            Thread.detachNewThread { answer.give(run(exchange, at: url, over: connection, before: deadline)) }
            return await answer.value()
        } onCancel: {
            answer.give(.failure(.cancelled))
            connection.cut()
        }
    }

    /// The whole of it, on a thread of its own, as looking up names and libcrypto's HTTP block.
    private func run(
        _ exchange: HTTPExchange,
        at url: ServiceURL,
        over connection: Connection,
        before deadline: ContinuousClock.Instant
    ) -> Result<[UInt8], RevocationError> {
        // If the server closes early, SIGPIPE must not end this process; it is blocked in this thread.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        do throws(RevocationError) {
            let all = try PeerAddress.all(of: url.host, port: url.port)
            let addresses = allowsPrivateAddresses ? all : all.filter(\.isPublic)
            guard !addresses.isEmpty || all.isEmpty else { throw .privateAddress }
            let seconds = Int(timeLimit.components.seconds) + 1
            let body = try connection.open(to: addresses, before: deadline) { socket throws(RevocationError) in
                do throws(OpenSSLError) { return try exchange.perform(over: socket, seconds: seconds) } catch {
                    let reasons = error.stack.map(\.reason).filter { !$0.isEmpty }
                    throw .badAnswer(reasons.isEmpty ? "it ends too early" : reasons.joined(separator: "; "))
                }
            }
            return .success(body)
        } catch {
            // libcrypto's own clock may have been the first to notice.
            if case .badAnswer = error, ContinuousClock.now >= deadline { return .failure(.timeLimit) }
            return .failure(error)
        }
    }
}
