import InternetMessage
import PKIX

/// The sender that a message claims, to be compared with the signer.
///
/// RFC 8550 §3
package struct SignerIdentity {
    private let author: AuthorReading
    /// The mailbox in Sender; nil unless there is one Sender field with one mailbox that all programs interpret alike.
    private let sender: Mailbox?
    /// The From inside the signature; nil if there is no such field.
    private let inner: AuthorReading?
    /// The header fields inside the signature, and those inside the encryption that no signature covers (`unsignedNames`); nil
    /// if there are none.
    private let protected: ProtectedHeader?
    /// The place of `inner`: inside the signature, or if no signature covers it, inside the encryption.
    private let place: String
    private let exceptions: VerdictExceptions

    private var from: [EmailAddress] { author.mailboxes.map(\.address) }

    /// Reads From and Sender of a message's header.
    ///
    /// - Parameters:
    ///   - protected: the header fields inside the signature. They must name the signer, too: a person who wraps another
    ///     person's mail must not appear as its author (RFC 9788 §4.4).
    ///   - exceptions: determines whether a signer is accepted whose address is only in Sender.
    init(_ header: HeaderBlock, protected: ProtectedHeader? = nil, exceptions: VerdictExceptions = []) {
        self.protected = protected
        self.exceptions = exceptions
        let author = AuthorReading(header)
        self.author = author
        let place = protected?.unsignedNames.contains("from") == true ? "inside the encryption" : "inside the signature"
        self.place = place
        inner = protected.flatMap { protected in
            guard protected.header.first("From") != nil else { return nil }
            guard !author.isSame(in: protected.header, as: header) else { return author }
            return AuthorReading(protected.header, place: " \(place)")
        }
        // Sender is exactly one mailbox (RFC 5322 §3.6.2). In a list or a group an attacker could add an address beside the
        // displayed one.
        let senders = header.all("Sender")
        sender = senders.count == 1 ? senders.first.flatMap { Mailbox(soleIn: $0) } : nil
    }

    /// The first address in From that the certificate names; nil if there is none.
    func author(named certificate: Certificate) -> EmailAddress? {
        let addresses = certificate.mailAddresses
        return from.first(where: addresses.contains)
    }

    /// The addresses for which readers accept a signer with `certificate`, as keys of a store: the addresses in From that the
    /// certificate names, or otherwise the address in Sender, each with the key of its domain.
    func scopes(of certificate: Certificate) -> Set<String> {
        let addresses = certificate.mailAddresses
        let authors = [from, sender.map { [$0.address] } ?? []].lazy.map { $0.filter(addresses.contains) }
            .first { !$0.isEmpty }
        return Set((authors ?? []).flatMap(\.scopes))
    }

    /// The finding that the signer is not the person in From.
    struct Mismatch {
        /// The reason why the signer is not the person in From.
        enum Reason: Sendable {
            /// The certificate names no address in From, or the outer From differs from the signed From.
            case notFrom
            /// The certificate names no address in the From inside the signature.
            case notProtectedFrom
            /// The certificate names the address in Sender only.
            case onlySender
        }

        let reason: Reason
        /// The problem for the report.
        let problem: Problem
    }

    /// The result for one signer.
    struct Finding {
        /// The identity axis of the report.
        let axis: VerificationReport.Axis
        /// The finding that the signer is not the person in From; nil if the signer is.
        let mismatch: Mismatch?
        /// Whether there is another error about the identity.
        let isUnclear: Bool
    }

    /// Judges whether a signer with `certificate` is the sender of the message.
    func judge(_ certificate: Certificate) -> Finding {
        if let excess = Self.excess(of: certificate) { return excess }
        let addresses = certificate.mailAddresses
        var problems = author.problems + (inner?.problems ?? [])
        if let malformed = Self.malformedName(in: certificate) {
            problems.append(malformed)
        }
        if addresses.isEmpty {
            problems.append(Problem(.certificateNoAddress, "the certificate names no address"))
        }
        let isUnclear = problems.contains { $0.level == .error }
        let mismatch = addresses.isEmpty ? nil : protectedMismatch(certificate) ?? self.mismatch(of: addresses)
        if let mismatch { problems.append(mismatch.problem) }
        return Finding(
            axis: VerificationReport.Axis(problems),
            mismatch: mismatch,
            isUnclear: isUnclear
        )
    }

    /// The finding that the names in `certificate` are malformed, or too many to compare; nil if they are neither. For data
    /// without a sender.
    static func defects(of certificate: Certificate) -> Finding? {
        excess(of: certificate)
            ?? malformedName(in: certificate).map { problem in
                Finding(axis: VerificationReport.Axis([problem]), mismatch: nil, isUnclear: true)
            }
    }

    /// The finding that `certificate` has too many names to compare; nil if it has not. No chain of such a certificate is
    /// judged either.
    private static func excess(of certificate: Certificate) -> Finding? {
        certificate.excessProblem.map { problem in
            Finding(axis: VerificationReport.Axis([problem]), mismatch: nil, isUnclear: true)
        }
    }

    /// The problem of a certificate with a malformed address, or with control characters in its name; nil if there is
    /// neither.
    private static func malformedName(in certificate: Certificate) -> Problem? {
        if certificate.hasMalformedAddress {
            return Problem(.certificateAddressMalformed, "an address in the certificate is malformed")
        }
        guard certificate.subject.holdsControlCharacters else { return nil }
        let text = "the name in the certificate holds line breaks or other control characters"
        return Problem(.certificateAddressMalformed, text)
    }

    /// The problems of a From inside the encryption that no signature covers. Programs may show another author because of them.
    var unsignedFromProblems: [Problem] {
        guard protected?.unsignedNames.contains("from") == true, let inner else { return [] }
        return inner.problems
    }

    /// The finding that the signer is not the person in the From inside the signature, or that this From differs from the
    /// outer From. Nil if all agree, if there is no From inside the signature, or if the certificate names no address.
    func protectedMismatch(_ certificate: Certificate) -> Mismatch? {
        let addresses = certificate.mailAddresses
        guard let inner, !addresses.isEmpty else { return nil }
        let own = Set(inner.mailboxes.map(\.address))
        if own.isDisjoint(with: addresses) {
            guard protected?.addresses("Sender")?.isDisjoint(with: addresses) == false else {
                let text = "the From field \(place) does not name the signer: \(Self.list(own))"
                return Mismatch(reason: .notProtectedFrom, problem: Problem(.protectedFromMismatch, text))
            }
            guard own == Set(from) else { return replaced(own) }
            return mismatch(of: addresses, isSender: true)
        }
        return own == Set(from) ? nil : replaced(own)
    }

    private func replaced(_ own: Set<EmailAddress>) -> Mismatch {
        let outside = from.isEmpty ? "nothing" : from.map(\.text).listedForDisplay
        let text = "From \(place) is \(Self.list(own)), but the outer From is \(outside)"
        return Mismatch(reason: .notFrom, problem: Problem(.signerNotFrom, text))
    }

    /// The finding that From does not name a signer with `addresses`; nil if From names one of the addresses, or contains no
    /// address.
    ///
    /// - Parameter isSender: whether Sender is already known to name the signer.
    private func mismatch(of addresses: Set<EmailAddress>, isSender: Bool = false) -> Mismatch? {
        guard !from.isEmpty, !from.contains(where: addresses.contains) else { return nil }
        let named = Self.list(addresses)
        guard isSender || sender.map({ addresses.contains($0.address) }) == true else {
            let text = "the certificate is for \(named), not for From"
            return Mismatch(reason: .notFrom, problem: Problem(.signerNotFrom, text))
        }
        let text = "the signer is the Sender, not From: \(named)"
        let problem =
            exceptions.contains(.sender) ? Problem(warning: .signerIsSender, text) : Problem(.signerIsSender, text)
        return Mismatch(reason: .onlySender, problem: problem)
    }

    private static func list(_ addresses: Set<EmailAddress>) -> String {
        addresses.map(\.text).sorted().listedForDisplay
    }
}

extension Certificate {
    /// The keys of each address under which a user may have trusted the certificate. A certificate with too many names to
    /// compare was trusted under none.
    var addressScopes: [Set<String>] { isExcessive ? [[]] : mailAddresses.map(\.scopes) }
}

extension EmailAddress {
    /// The address and its domain, as keys of a store.
    var scopes: Set<String> { [key, "@\(asciiDomain)"] }
}
