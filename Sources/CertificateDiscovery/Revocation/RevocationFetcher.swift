package import Foundation
package import PKIX

/// Queries the revocation services that certificates name: first OCSP responders, then revocation lists if necessary.
///
/// A request reveals to the authority, and to observers of the network, that mail with this certificate is being read.
/// Therefore the fetcher is used only if the user allows it. No question is asked twice, except after a cancellation or after
/// the time limit of a verdict.
package actor RevocationFetcher: RevocationSource {
    /// A service that gave no usable answer, and the reason.
    package struct Outage: Hashable, Sendable {
        /// The URL of the service, as in the certificate; for a delta list, as in the complete list.
        package let url: String
        /// The reason.
        package let error: RevocationError
    }

    /// The maximum number of questions that one fetcher asks.
    package static let maximumQuestions = 256

    private struct Question: Hashable {
        let url: String
        let request: OCSPRequest?
    }

    private let client: HTTPClient
    private typealias Answer = Task<Result<[UInt8], RevocationError>, Never>

    /// The questions that were asked so far, with their answers. A second task with the same question waits for the answer to
    /// the first.
    private var answers: [Question: Answer] = [:]
    /// The services that gave no usable answer so far, in the order in which they failed.
    package private(set) var outages: [Outage] = []
    /// The fetched lists that their issuer signed; the caller can store them.
    package private(set) var certificateLists: [FetchedList] = []
    /// The OCSP responses that were used; the caller can store them.
    package private(set) var responses: [FetchedResponse] = []

    /// The services that did not answer or could not be reached, as host and port (`ServiceURL.service`). These services are
    /// not asked again.
    package private(set) var silentServices: Set<String> = []
    /// The services that sent a DER element, usable or not, as host and port. An HTTP error does not count as an answer.
    package private(set) var answeringServices: Set<String> = []
    /// Services that are not asked because they recently did not answer, each with the time of that failure.
    private let knownSilence: [String: Date]
    /// The services of `knownSilence` that `outages` already contains.
    private var knownOutages: Set<String> = []

    /// - Parameter silentServices: services that recently did not answer, as host and port, each with the time of that
    ///   failure. These services are not asked.
    package init(_ client: HTTPClient = HTTPClient(), silentServices: [String: Date] = [:]) {
        self.client = client
        knownSilence = silentServices
    }

    /// The time limit of one request.
    nonisolated var timeLimit: Duration { client.timeLimit }

    /// A source for one verdict, which delays the verdict by at most `VerdictRevocation.timeLimit` in total, or by the time
    /// limit of one request if that is longer.
    nonisolated package func forOneVerdict() -> any RevocationSource { VerdictRevocation { self } }

    /// Queries the services that the certificates at the indices `places` of `chain` name: first responders, then lists.
    package func evidence(on chain: [Certificate], at places: [Int], date: Date) async -> RevocationEvidence {
        await evidence(on: chain, at: places, date: date, before: nil)
    }

    /// Like `evidence(on:at:date:)`, but sends no request after `deadline`.
    func evidence(
        on chain: [Certificate],
        at places: [Int],
        date: Date,
        before deadline: ContinuousClock.Instant?
    ) async -> RevocationEvidence {
        var evidence = RevocationEvidence()
        for place in places where place + 1 < chain.count && !Task.isCancelled {
            let (certificate, issuer) = (chain[place], chain[place + 1])
            if let response = await response(about: certificate, issuedBy: issuer, at: date, before: deadline) {
                evidence.responses.append(response)
            } else {
                evidence.certificateLists += await lists(for: certificate, issuedBy: issuer, before: deadline)
            }
        }
        return evidence
    }

    /// The first response that decides the certificate's status; nil if there is none.
    private func response(
        about certificate: Certificate,
        issuedBy issuer: Certificate,
        at date: Date,
        before deadline: ContinuousClock.Instant?
    ) async -> OCSPResponse? {
        let services = certificate.revocationServices
        guard !services.responders.isEmpty, let request = try? OCSPRequest(about: certificate, issuedBy: issuer) else {
            return nil
        }
        for text in services.responders {
            guard let der = await ask(Question(url: text, request: request), before: deadline) else { continue }
            let response = OCSPResponse(der: der)
            if let lifetime = response.lifetime(about: certificate, issuedBy: issuer, at: date) {
                if let subject = try? OCSPResponse.Subject(certificate, issuedBy: issuer) {
                    let kept = FetchedResponse(certificate: subject, response: response, lifetime: lifetime)
                    if !responses.contains(kept) { responses.append(kept) }
                }
                return response
            }
            note(text, .badAnswer("it is not about this certificate, not current, or not from an authorized responder"))
        }
        return nil
    }

    /// All revocation lists that can be fetched. All are fetched, because each list may have a limited scope, and a complete
    /// list may name a delta list.
    private func lists(
        for certificate: Certificate,
        issuedBy issuer: Certificate,
        before deadline: ContinuousClock.Instant?
    ) async -> [CertificateList] {
        let named = certificate.revocationServices.lists
        var lists: [CertificateList] = []
        for text in named { lists += await list(at: text, issuedBy: issuer, before: deadline) }
        // Unsigned data must not decide where this program connects to.
        let deltas = lists.filter { $0.isSigned(by: issuer) }.flatMap(\.deltaLists).filter { !named.contains($0) }
        for text in Set(deltas).sorted() { lists += await list(at: text, issuedBy: issuer, before: deadline) }
        return lists
    }

    /// The list at the URL `text`; empty if there is no usable list.
    private func list(
        at text: String,
        issuedBy issuer: Certificate,
        before deadline: ContinuousClock.Instant?
    ) async -> [CertificateList] {
        guard let der = await ask(Question(url: text, request: nil), before: deadline) else { return [] }
        do throws(CMSError) {
            let list = try CertificateList(der: der)
            let isSigned = list.isSigned(by: issuer)
            // A list of another issuer may be an indirect list (RFC 5280 §5); only chain verification can decide that.
            guard isSigned || !list.issuer.matches(issuer.subject) else {
                note(text, .badAnswer("it is a revocation list that its issuer did not sign"))
                return []
            }
            if isSigned, !certificateLists.contains(where: { $0.list == list }) {
                certificateLists.append(FetchedList(list: list, issuer: issuer))
            }
            return [list]
        } catch {
            note(text, .badAnswer("it is not a revocation list"))
            return []
        }
    }

    private func ask(_ question: Question, before deadline: ContinuousClock.Instant?) async -> [UInt8]? {
        guard let answer = answers[question] ?? begin(question, before: deadline) else { return nil }
        let service = ServiceURL(question.url)?.service ?? question.url
        switch await withTaskCancellationHandler(operation: { await answer.value }, onCancel: { answer.cancel() }) {
        case .success(let bytes):
            answeringServices.insert(service)
            return bytes
        case .failure(.cancelled):
            forget(answer, to: question)
            // Another task may have cancelled the request; then this task sends it again.
            return answer.isCancelled && !Task.isCancelled ? await ask(question, before: deadline) : nil
        case .failure(.verdictTimeLimit):
            // This answer is removed, because the next verdict has a new time limit and may ask again.
            forget(answer, to: question)
            note(question.url, .verdictTimeLimit)
            return nil
        case .failure(let error):
            if error.isSilence { silentServices.insert(service) }
            note(question.url, error)
            return nil
        }
    }

    private func forget(_ answer: Answer, to question: Question) {
        if answers[question] == answer { answers[question] = nil }
    }

    /// Sends `question`; nil if it must not be sent.
    private func begin(_ question: Question, before deadline: ContinuousClock.Instant?) -> Answer? {
        guard answers.count < Self.maximumQuestions else {
            if !outages.contains(where: { $0.error == .questionLimit }) { note(question.url, .questionLimit) }
            return nil
        }
        guard let url = ServiceURL(question.url) else {
            // Many certificates name an LDAP directory in addition to a web server. Skipping the directory is not an outage.
            if !question.url.lowercased().hasPrefix("ldap") { note(question.url, .unsupportedURL) }
            return nil
        }
        if let since = knownSilence[url.service] {
            if knownOutages.insert(url.service).inserted { note(question.url, .silent(since: since)) }
            return nil
        }
        // The outage of this service is already recorded.
        guard !silentServices.contains(url.service) else { return nil }
        let left = deadline.map { $0 - .now } ?? client.timeLimit
        guard left > .zero else {
            note(question.url, .verdictTimeLimit)
            return nil
        }
        var client = client
        let isCut = left < client.timeLimit / 2
        client.timeLimit = min(client.timeLimit, left)
        let content = question.request.map { (type: "application/ocsp-request", bytes: $0.der) }
        let type = question.request.map { _ in "application/ocsp-response" }
        let answer = Answer { [client] in
            let result = await client.ask(url, posting: content, expecting: type)
            // If the verdict left the request less than half of the client's time limit, a timeout does not show that the
            // service is silent.
            return isCut && result == .failure(.timeLimit) ? .failure(.verdictTimeLimit) : result
        }
        answers[question] = answer
        return answer
    }

    private func note(_ url: String, _ error: RevocationError) {
        let outage = Outage(url: url, error: error)
        if !outages.contains(outage) { outages.append(outage) }
    }
}

/// Queries a fetcher for one verdict and limits the total time by which the services may delay the verdict.
///
/// A certificate may name many services that do not answer, and a message may have many signers.
package actor VerdictRevocation: RevocationSource {
    /// How long the services may delay one verdict in total. If the time limit of a single request is longer, that limit
    /// applies instead.
    package static let timeLimit = Duration.seconds(10)

    private let fetcher: @Sendable () async -> RevocationFetcher?
    private let timeLimit: Duration
    /// How long the verdict has been delayed so far.
    private var spent = Duration.zero

    /// - Parameters:
    ///   - timeLimit: how long the services may delay the verdict in total.
    ///   - fetcher: returns the fetcher; nil if no service may be asked.
    package init(
        timeLimit: Duration = VerdictRevocation.timeLimit,
        _ fetcher: @escaping @Sendable () async -> RevocationFetcher?
    ) {
        self.timeLimit = timeLimit
        self.fetcher = fetcher
    }

    /// Whether there is a fetcher.
    package func isAsking() async -> Bool { await fetcher() != nil }

    /// Queries the services while the verdict has time left.
    package func evidence(on chain: [Certificate], at places: [Int], date: Date) async -> RevocationEvidence {
        guard let fetcher = await fetcher() else { return RevocationEvidence() }
        let start = ContinuousClock.now
        let limit = max(timeLimit, fetcher.timeLimit) - spent
        let evidence = await fetcher.evidence(on: chain, at: places, date: date, before: start + limit)
        spent += ContinuousClock.now - start
        return evidence
    }
}
