package import Foundation
package import PKIX

/// Asks the services that certificates name: the responder first, and the lists if that does not decide.
///
/// A request tells the authority, and observers of the network, that such mail is being read. So this is only used if
/// the user allows it. It asks nothing twice.
package actor RevocationFetcher: RevocationSource {
    /// A service that gave no answer, and why.
    package struct Outage: Hashable, Sendable {
        /// The service, as certificates name it.
        package let url: String
        /// Why it gave none.
        package let error: RevocationError
    }

    /// A response, and what it is good for.
    package struct Kept: Hashable, Sendable {
        /// The answer, whose signature was checked.
        package let response: OCSPResponse
        /// The `nameDigest` of the certificate that it is about.
        package let certificate: Fingerprint
        /// From when to when it holds.
        package let lifetime: OCSPResponse.Lifetime
    }

    /// The most questions that are asked in the lifetime of a value.
    package static let maximumQuestions = 256

    private struct Question: Hashable {
        let url: String
        let request: OCSPRequest?
    }

    private let client: HTTPClient
    private typealias Answer = Task<Result<[UInt8], RevocationError>, Never>

    /// What was asked; who wants to know the same before the answer is there waits for it, too.
    private var answers: [Question: Answer] = [:]
    /// The services that gave no answer so far, in their order.
    package private(set) var outages: [Outage] = []
    /// The lists that were fetched and are what they should be, for keeping.
    package private(set) var certificateLists: [CertificateList] = []
    /// What responders said that counts, for keeping.
    package private(set) var responses: [Kept] = []

    /// The services that were asked and did not answer, or could not be reached, as host and port (`ServiceURL.service`).
    /// None of them is asked again.
    package private(set) var silentServices: Set<String> = []
    /// The services that answered, rightly or not, as host and port.
    package private(set) var answeringServices: Set<String> = []
    /// Services that are not asked, and since when they are silent.
    private let knownSilence: [String: Date]
    /// Those of them that `outages` has.
    private var knownOutages: Set<String> = []

    /// - Parameter silentServices: services, as host and port, that did not answer a short while ago, and when. They are not
    ///   asked.
    package init(_ client: HTTPClient = HTTPClient(), silentServices: [String: Date] = [:]) {
        self.client = client
        knownSilence = silentServices
    }

    /// How long one answer may take.
    nonisolated var timeLimit: Duration { client.timeLimit }

    /// Asks for one verdict, and no longer than `VerdictRevocation.timeLimit`.
    nonisolated package func forOneVerdict() -> any RevocationSource { VerdictRevocation { self } }

    /// Asks the services that the certificates at `places` of `chain` name: responders first, then for lists.
    package func evidence(on chain: [Certificate], at places: [Int], date: Date) async -> RevocationEvidence {
        await evidence(on: chain, at: places, date: date, before: nil)
    }

    /// The same, but asks no service after `deadline`.
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

    /// The first response that says something that counts.
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
                if let name = try? certificate.nameDigest {
                    let kept = Kept(response: response, certificate: name, lifetime: lifetime)
                    if !responses.contains(kept) { responses.append(kept) }
                }
                return response
            }
            note(text, .badAnswer("it is not about this certificate, not current, or by an unauthorized responder"))
        }
        return nil
    }

    /// All revocation lists that can be fetched: each may cover only a part, and a complete one may name a delta.
    private func lists(
        for certificate: Certificate,
        issuedBy issuer: Certificate,
        before deadline: ContinuousClock.Instant?
    ) async -> [CertificateList] {
        let named = certificate.revocationServices.lists
        var lists: [CertificateList] = []
        for text in named { lists += await list(at: text, issuedBy: issuer, before: deadline) }
        // Unsigned data must not choose where we connect to.
        let deltas = lists.filter { $0.isSigned(by: issuer) }.flatMap(\.deltaLists).filter { !named.contains($0) }
        for text in Set(deltas).sorted() { lists += await list(at: text, issuedBy: issuer, before: deadline) }
        return lists
    }

    /// The list at `text`; none if there is none that can be used.
    private func list(
        at text: String,
        issuedBy issuer: Certificate,
        before deadline: ContinuousClock.Instant?
    ) async -> [CertificateList] {
        guard let der = await ask(Question(url: text, request: nil), before: deadline) else { return [] }
        do throws(CMSError) {
            let list = try CertificateList(der: der)
            let isSigned = list.isSigned(by: issuer)
            // A list of another issuer may be an indirect one (RFC 5280 §5); only verifying the chain can show that.
            guard isSigned || !list.issuer.matches(issuer.subject) else {
                note(text, .badAnswer("a revocation list that its issuer did not sign"))
                return []
            }
            if isSigned, !certificateLists.contains(list) { certificateLists.append(list) }
            return [list]
        } catch {
            note(text, .badAnswer("no revocation list"))
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
            // Another task may have cancelled the request, not this one.
            return answer.isCancelled && !Task.isCancelled ? await ask(question, before: deadline) : nil
        case .failure(.verdictTimeLimit):
            // The next verdict has a new time limit and may ask again.
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

    /// Sends `question`; nil if it is not to be asked.
    private func begin(_ question: Question, before deadline: ContinuousClock.Instant?) -> Answer? {
        guard answers.count < Self.maximumQuestions else { return nil }
        guard let url = ServiceURL(question.url) else {
            // Many certificates name an LDAP directory beside a web server; skipping it is no outage.
            if !question.url.lowercased().hasPrefix("ldap") { note(question.url, .notAsked) }
            return nil
        }
        if let since = knownSilence[url.service] {
            if knownOutages.insert(url.service).inserted { note(question.url, .silent(since: since)) }
            return nil
        }
        // The outage of a silent service is already recorded.
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
            // The service had less than the usual time, so it does not count as silent.
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
