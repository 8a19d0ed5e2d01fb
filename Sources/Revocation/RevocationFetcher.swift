public import CMS
public import Foundation

/// Asks the services that certificates name: the responder first, and where it does not tell, the lists.
///
/// Asking tells the authority, and whoever watches the network, that somebody reads such mail; so nobody makes one without
/// the user's word. Nothing is asked twice in the lifetime of a value.
public actor RevocationFetcher: RevocationSource {
    /// A service that gave no answer, and why.
    public struct Outage: Hashable, Sendable {
        /// The service, as certificates name it.
        public let url: String
        /// Why it gave none.
        public let error: RevocationError
    }

    /// A response, and what it is good for.
    public struct Kept: Hashable, Sendable {
        /// The answer, whose signature was checked.
        public let response: OCSPResponse
        /// The `nameDigest` of the certificate that it is about.
        public let certificate: Fingerprint
        /// From when to when it holds.
        public let lifetime: OCSPResponse.Lifetime
    }

    /// The most questions that are asked in the lifetime of a value.
    public static let maximumQuestions = 256

    private struct Question: Hashable {
        let url: String
        let request: OCSPRequest?
    }

    private let client: HTTPClient
    private typealias Answer = Task<Result<[UInt8], RevocationError>, Never>

    /// What was asked; who wants to know the same before the answer is there waits for it, too.
    private var answers: [Question: Answer] = [:]
    /// The services that gave no answer so far, in their order.
    public private(set) var outages: [Outage] = []
    /// The lists that were fetched and are what they should be, for keeping.
    public private(set) var certificateLists: [CertificateList] = []
    /// What responders said that counts, for keeping.
    public private(set) var responses: [Kept] = []

    /// The services that were asked and did not answer, or could not be reached.
    public private(set) var silentServices: Set<String> = []
    /// The services that answered, rightly or not.
    public private(set) var answeringServices: Set<String> = []
    /// Services that are not asked, and since when they are silent.
    private let knownSilence: [String: Date]

    /// - Parameter silentServices: URLs of services that did not answer a short while ago, and when. They are not asked.
    public init(_ client: HTTPClient = HTTPClient(), silentServices: [String: Date] = [:]) {
        self.client = client
        knownSilence = silentServices
    }

    /// Asks the services that the certificates at `places` of `chain` name: responders first, then for lists.
    public func evidence(on chain: [Certificate], at places: [Int], date: Date) async -> RevocationEvidence {
        var evidence = RevocationEvidence()
        for place in places where place + 1 < chain.count && !Task.isCancelled {
            let (certificate, issuer) = (chain[place], chain[place + 1])
            if let response = await response(about: certificate, issuedBy: issuer, at: date) {
                evidence.responses.append(response)
            } else {
                evidence.certificateLists += await lists(for: certificate, issuedBy: issuer)
            }
        }
        return evidence
    }

    /// The first response that says something that counts.
    private func response(
        about certificate: Certificate,
        issuedBy issuer: Certificate,
        at date: Date
    ) async -> OCSPResponse? {
        let services = certificate.revocationServices
        guard !services.responders.isEmpty, let request = try? OCSPRequest(about: certificate, issuedBy: issuer) else {
            return nil
        }
        for text in services.responders {
            guard let der = await ask(Question(url: text, request: request)) else { continue }
            let response = OCSPResponse(der: der)
            if let lifetime = response.lifetime(about: certificate, issuedBy: issuer, at: date) {
                if let name = try? certificate.nameDigest {
                    let kept = Kept(response: response, certificate: name, lifetime: lifetime)
                    if !responses.contains(kept) { responses.append(kept) }
                }
                return response
            }
            note(text, .badAnswer("it is not about this certificate, not current, or by nobody who may speak for it"))
        }
        return nil
    }

    /// All lists that can be had: they may be parts of one another, and a complete one may say where its delta is.
    private func lists(for certificate: Certificate, issuedBy issuer: Certificate) async -> [CertificateList] {
        let named = certificate.revocationServices.lists
        var lists: [CertificateList] = []
        for text in named { lists += await list(at: text, issuedBy: issuer) }
        // What nobody signed must not send us anywhere.
        let deltas = lists.filter { $0.isSigned(by: issuer) }.flatMap(\.deltaLists).filter { !named.contains($0) }
        for text in Set(deltas).sorted() { lists += await list(at: text, issuedBy: issuer) }
        return lists
    }

    /// The list at `text`; none if there is none that can be used.
    private func list(at text: String, issuedBy issuer: Certificate) async -> [CertificateList] {
        guard let der = await ask(Question(url: text, request: nil)) else { return [] }
        do throws(CMSError) {
            let list = try CertificateList(der: der)
            let isSigned = list.isSigned(by: issuer)
            // One by another issuer may be an indirect one, which only the chain's verification can tell.
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

    private func ask(_ question: Question) async -> [UInt8]? {
        guard let answer = answers[question] ?? begin(question) else { return nil }
        switch await withTaskCancellationHandler(operation: { await answer.value }, onCancel: { answer.cancel() }) {
        case .success(let bytes):
            answeringServices.insert(question.url)
            return bytes
        case .failure(.cancelled):
            if answers[question] == answer { answers[question] = nil }
            // It may be only somebody else who gave up waiting.
            return answer.isCancelled && !Task.isCancelled ? await ask(question) : nil
        case .failure(let error):
            if error.isSilence { silentServices.insert(question.url) }
            note(question.url, error)
            return nil
        }
    }

    /// Sends `question`; nil if it is not to be asked.
    private func begin(_ question: Question) -> Answer? {
        guard answers.count < Self.maximumQuestions else { return nil }
        guard let url = ServiceURL(question.url) else {
            // A directory (ldap) beside a web server is usual, and no outage.
            if !question.url.lowercased().hasPrefix("ldap") { note(question.url, .notAsked) }
            return nil
        }
        if let since = knownSilence[question.url] {
            note(question.url, .silent(since: since))
            return nil
        }
        let content = question.request.map { (type: "application/ocsp-request", bytes: $0.der) }
        let type = question.request.map { _ in "application/ocsp-response" }
        let answer = Answer { [client] in await client.ask(url, posting: content, expecting: type) }
        answers[question] = answer
        return answer
    }

    private func note(_ url: String, _ error: RevocationError) {
        let outage = Outage(url: url, error: error)
        if !outages.contains(outage) { outages.append(outage) }
    }
}
