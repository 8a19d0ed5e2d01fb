import Foundation
package import PKIX

/// A source of other people's certificates in addition to the registry: a directory, a server.
///
/// Its certificates are not trusted more than others: a chain or a pin decides. Its methods may block; the caller waits
/// for `timeLimit` only.
package protocol CertificateSource: Sendable {
    /// The source's name in reports.
    var kind: KnownRecipient.Source { get }
    /// How long an answer may take.
    var timeLimit: Duration { get }

    /// The certificates for each of `addresses`, with problems of some of them.
    ///
    /// - Throws: `SourceOutage` if the whole source is missing.
    func search(for addresses: [AddressScope]) throws(SourceOutage) -> SourceAnswer

    /// A short text that confirms that the source is available.
    ///
    /// - Throws: `SourceOutage`
    func state() throws(SourceOutage) -> String
}

/// A source that could not be asked.
package struct SourceOutage: Error, Equatable, Sendable {
    /// Completes "… cannot be asked: ".
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
}

extension SourceOutage: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }
    package var description: String { reason }
}

/// The answer of a source.
package struct SourceAnswer: Sendable {
    /// The certificates, in no order that means anything.
    package var found: [FoundCertificate] = []
    /// The problems of unusable certificates, one sentence each.
    package var warnings: [String] = []
    /// The addresses whose certificates could not be read, so that it is unknown whether there are any.
    package var outages: [AddressScope: SourceOutage] = [:]
    /// The addresses among them for which the source took too long; it is not asked about them for a while.
    package var late: Set<AddressScope> = []
    /// How long the answers about these addresses may be kept, where the source says so.
    package var lifetimes: [AddressScope: Duration] = [:]

    package init() {}

    /// Adds the certificates for `address` and those of authorities, which the source has at the place `detail`.
    package mutating func add(
        _ certificates: [Certificate],
        for address: AddressScope,
        from source: KnownRecipient.Source,
        at detail: String
    ) {
        let authorities = certificates.filter { $0.isCertificateAuthority && !$0.names(address) }
        for certificate in certificates where !authorities.contains(certificate) {
            guard !found.contains(where: { $0.address == address && $0.certificate == certificate }) else { continue }
            found.append(
                FoundCertificate(
                    address: address,
                    certificate: certificate,
                    source: source,
                    detail: detail,
                    authorities: authorities
                )
            )
        }
    }
}

/// A certificate that a source has for an address or domain.
package struct FoundCertificate: Sendable {
    /// The address that it is for.
    package let address: AddressScope
    /// The certificate, believed no more than any other.
    package let certificate: Certificate
    /// The source.
    package let source: KnownRecipient.Source
    /// The place in the source, such as a file's path.
    package let detail: String
    /// Authorities in the same file. They may help to reach an anchor, and are not trusted.
    package let authorities: [Certificate]
    /// The place of the source among those that are asked.
    var rank = 1

    package init(
        address: AddressScope,
        certificate: Certificate,
        source: KnownRecipient.Source,
        detail: String,
        authorities: [Certificate] = []
    ) {
        self.address = address
        self.certificate = certificate
        self.source = source
        self.detail = detail
        self.authorities = authorities
    }
}

extension CertificateSource {
    /// Calls `question` on a thread of its own. When the time is over, the caller stops waiting and the thread goes on.
    ///
    /// - Parameter limit: how long to wait; nil for `timeLimit`.
    package func ask<Answer: Sendable>(
        within limit: Duration? = nil,
        _ question: @escaping @Sendable (Self) throws(SourceOutage) -> Answer
    ) async throws(SourceOutage) -> Answer {
        let limit = limit ?? timeLimit
        let answer = Promise<Result<Answer, SourceOutage>>()
        Thread.detachNewThread {
            answer.fulfil(Result { () throws(SourceOutage) in try question(self) })
        }
        // A queue of its own: the threads of the global one may all be waiting.
        DispatchQueue(label: "deadline").asyncAfter(deadline: .now() + limit.timeInterval) {
            answer.fulfil(.failure(SourceOutage("no answer within \(limit.timeInterval.formatted()) s")))
        }
        return try await answer.value().get()
    }
}
