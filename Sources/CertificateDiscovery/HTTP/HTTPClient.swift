import Foundation
import LibCrypto
import PKIX

/// Sends requests to services on the network, within limits.
package struct HTTPClient: Sendable {
    /// How long one request may take, including the name lookup and the connection.
    package var timeLimit: Duration
    /// The maximum size of a response in bytes.
    package var maximumCount: Int
    /// The default of `maximumCount`.
    package static let maximumCount = 10 << 20
    /// Whether services in networks that are not public may be contacted.
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

    /// Sends a GET request to `url`, or a POST request if there is `content`, and returns the DER element in the response. A
    /// redirection is an error.
    ///
    /// Returns when the time limit is over or the task is cancelled, even if the peer sends nothing.
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
            answer.fulfil(.failure(.timeLimit))
            connection.cut()
        }
        defer { alarm.cancel() }
        return await withTaskCancellationHandler {
            Thread.detachNewThread { answer.fulfil(run(exchange, at: url, over: connection, before: deadline)) }
            return await answer.value()
        } onCancel: {
            answer.fulfil(.failure(.cancelled))
            connection.cut()
        }
    }

    /// Runs the request on a separate thread, because the name lookup and libcrypto's HTTP client block.
    private func run(
        _ exchange: HTTPExchange,
        at url: ServiceURL,
        over connection: Connection,
        before deadline: ContinuousClock.Instant
    ) -> Result<[UInt8], RevocationError> {
        // If the server closes early, SIGPIPE must not end this process, so the signal is blocked in this thread.
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
            // libcrypto's own timer may have ended the request at the deadline.
            if case .badAnswer = error, ContinuousClock.now >= deadline { return .failure(.timeLimit) }
            return .failure(error)
        }
    }
}
