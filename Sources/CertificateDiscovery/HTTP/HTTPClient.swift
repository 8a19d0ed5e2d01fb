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
    ///
    /// - Parameter type: the media type that the response must have; nil accepts any media type.
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
            connection.shutDown()
        }
        defer { alarm.cancel() }
        return await withTaskCancellationHandler {
            Thread.detachNewThread { answer.fulfil(run(exchange, at: url, over: connection, before: deadline)) }
            return await answer.value()
        } onCancel: {
            answer.fulfil(.failure(.cancelled))
            connection.shutDown()
        }
    }

    /// Runs the request. Call this on a separate thread, because the name lookup and libcrypto's HTTP client block.
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

/// An http URL from a certificate, divided into parts that cannot inject anything into a request.
///
/// http is sufficient because revocation data is signed (RFC 5280 §8). https would require checking the revocation of the
/// server's own certificate. RFC 9110 §4.2.1
package struct ServiceURL: Hashable, Sendable {
    /// A host name or an IP address, without brackets.
    package let host: String
    /// The port; 80 if the URL contains none.
    package let port: UInt16
    /// The path and query, beginning with a slash.
    package let path: String

    /// The maximum length of a URL in bytes.
    static let maximumCount = 2048

    /// Returns nil unless `text` is an http URL of printable ASCII without user information, of at most `maximumCount` bytes.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumCount, bytes.allSatisfy({ (0x21...0x7E).contains($0) }),
            text.lowercased().hasPrefix("http://")
        else { return nil }
        let rest = text.dropFirst("http://".count)
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        guard let (host, port) = Self.parts(of: rest[..<end]) else { return nil }
        let path = rest[end...].prefix { $0 != "#" }
        (self.host, self.port, self.path) = (host, port, path.hasPrefix("/") ? String(path) : "/\(path)")
    }

    /// The host and the port in the URL's authority part; nil if that part is malformed or contains user information.
    private static func parts(of authority: Substring) -> (host: String, port: UInt16)? {
        var host = authority
        var port: UInt16 = 80
        let isBracketed = authority.hasPrefix("[")
        if let colon = authority.lastIndex(of: ":"), !isBracketed || authority[..<colon].hasSuffix("]") {
            let digits = authority[authority.index(after: colon)...]
            guard digits.isEmpty || digits.allSatisfy(\.isNumber), let number = UInt16(digits.isEmpty ? "80" : digits),
                number > 0
            else { return nil }
            (host, port) = (authority[..<colon], number)
        }
        if isBracketed {
            guard host.hasSuffix("]") else { return nil }
            host = host.dropFirst().dropLast()
            guard !host.isEmpty, host.allSatisfy({ $0.isHexDigit || ":.".contains($0) }) else { return nil }
        } else {
            guard !host.isEmpty, host.allSatisfy({ $0.isLetter || $0.isNumber || "-._".contains($0) }) else {
                return nil
            }
        }
        return (String(host), port)
    }

    /// The host and the port, such as `crl.example.org:80`. This text identifies a service, which may have many URLs.
    package var service: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)".lowercased() }

    /// The host and the port, in the form of the Host header field.
    package var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == 80 ? name : "\(name):\(port)"
    }
}

extension ServiceURL: CustomStringConvertible {
    package var description: String { "http://\(authority)\(path)" }
}
