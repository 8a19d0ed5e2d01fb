import InternetMessage
import PKIX

/// The sender that a message claims, for comparison with its signer.
///
/// RFC 8550 §3
package struct SignerIdentity {
    private let author: AuthorReading
    /// The mailbox in Sender, where one field names one and programs agree on it.
    private let sender: Mailbox?
    /// From inside the signature; nil without such a field.
    private let inner: AuthorReading?
    /// The header fields inside the signature, if there are any.
    private let protected: ProtectedHeader?
    private let exceptions: VerdictExceptions

    private var from: [EmailAddress] { author.mailboxes.map(\.address) }

    /// Reads From and Sender of a message's header.
    ///
    /// - Parameters:
    ///   - protected: the header fields inside the signature. They must name the signer, too: a person who wraps
    ///     another one's mail must not pass for its author (RFC 9788 §4.4).
    ///   - exceptions: whether a signer whom only Sender names is accepted.
    init(_ header: HeaderBlock, protected: ProtectedHeader? = nil, exceptions: VerdictExceptions = []) {
        self.protected = protected
        self.exceptions = exceptions
        let author = AuthorReading(header)
        self.author = author
        inner = protected.flatMap { protected in
            guard protected.header.first("From") != nil else { return nil }
            guard !author.isSame(in: protected.header, as: header) else { return author }
            return AuthorReading(protected.header, place: " inside the signature")
        }
        // RFC 5322 §3.6.2: one mailbox. In a list or a group an attacker could hide beside the address that is shown.
        let senders = header.all("Sender")
        sender = senders.count == 1 ? senders.first.flatMap { Mailbox(soleIn: $0) } : nil
    }

    /// The first address of From that `certificate` names.
    func author(named certificate: Certificate) -> EmailAddress? {
        let addresses = certificate.mailAddresses
        return from.first(where: addresses.contains)
    }

    /// The addresses for which readers accept a signer with `certificate`: those in From, or else Sender, that it
    /// names, with the whole domain of each, as keys of a store.
    func scopes(of certificate: Certificate) -> Set<String> {
        let addresses = certificate.mailAddresses
        let authors = [from, sender.map { [$0.address] } ?? []].lazy.map { $0.filter(addresses.contains) }
            .first { !$0.isEmpty }
        return Set((authors ?? []).flatMap(\.scopes))
    }

    /// That a signer is not the one in From.
    struct Strangeness {
        /// In what way.
        enum Reason: Sendable {
            /// The certificate names none of the addresses in From, or From is not as it was signed.
            case notFrom
            /// The same for the From inside the signature.
            case notProtectedFrom
            /// The certificate names Sender.
            case onlySender
        }

        let reason: Reason
        /// What the report says of it.
        let problem: Problem
    }

    /// The result for one signer.
    struct Finding {
        /// The identity axis.
        let axis: VerificationReport.Axis
        /// That the signer is not the one in From; nil unless that is so.
        let strangeness: Strangeness?
        /// Whether something else is wrong with the identity.
        let isUnclear: Bool
    }

    /// Whether a signer with `certificate` is the one that the message is from.
    func judge(_ certificate: Certificate) -> Finding {
        let addresses = certificate.mailAddresses
        var problems = author.problems + (inner?.problems ?? [])
        if certificate.hasMalformedAddress {
            problems.append(Problem(.certificateAddressMalformed, "an address in the certificate is not one"))
        } else if certificate.subject.holdsControlCharacters {
            let text = "the name in the certificate holds line breaks or other control characters"
            problems.append(Problem(.certificateAddressMalformed, text))
        }
        if addresses.isEmpty {
            problems.append(Problem(.certificateNoAddress, "the certificate names no address"))
        }
        let isUnclear = problems.contains { $0.level == .error }
        let stranger = addresses.isEmpty ? nil : protectedStrangeness(certificate) ?? strangeness(of: addresses)
        if let stranger { problems.append(stranger.problem) }
        return Finding(
            axis: VerificationReport.Axis(problems),
            strangeness: stranger,
            isUnclear: isUnclear
        )
    }

    /// What is strange if the fields inside the signature name neither `certificate` nor the outer From; nil if they agree.
    func protectedStrangeness(_ certificate: Certificate) -> Strangeness? {
        let addresses = certificate.mailAddresses
        guard let inner, !addresses.isEmpty else { return nil }
        let own = Set(inner.mailboxes.map(\.address))
        if own.isDisjoint(with: addresses) {
            guard protected?.addresses("Sender")?.isDisjoint(with: addresses) == false else {
                let text = "the From field inside the signature does not name the signer: \(Self.list(own))"
                return Strangeness(reason: .notProtectedFrom, problem: Problem(.protectedFromMismatch, text))
            }
            guard own == Set(from) else { return replaced(own) }
            return strangeness(of: addresses, isSender: true)
        }
        return own == Set(from) ? nil : replaced(own)
    }

    private func replaced(_ own: Set<EmailAddress>) -> Strangeness {
        let outside = from.isEmpty ? "nothing" : from.map(\.text).listedForDisplay
        let text = "From is \(Self.list(own)), as it was signed; outside it is \(outside)"
        return Strangeness(reason: .notFrom, problem: Problem(.signerNotFrom, text))
    }

    /// What is strange if From does not name a signer with `addresses`; nil if it does, or names no address.
    ///
    /// - Parameter isSender: whether it is known that Sender names the signer.
    private func strangeness(of addresses: Set<EmailAddress>, isSender: Bool = false) -> Strangeness? {
        guard !from.isEmpty, !from.contains(where: addresses.contains) else { return nil }
        let named = Self.list(addresses)
        guard isSender || sender.map({ addresses.contains($0.address) }) == true else {
            let text = "the certificate is for \(named), not for From"
            return Strangeness(reason: .notFrom, problem: Problem(.signerNotFrom, text))
        }
        let text = "the signer is the Sender, not From: \(named)"
        let problem =
            exceptions.contains(.sender) ? Problem(warning: .signerIsSender, text) : Problem(.signerIsSender, text)
        return Strangeness(reason: .onlySender, problem: problem)
    }

    private static func list(_ addresses: Set<EmailAddress>) -> String {
        addresses.map(\.text).sorted().listedForDisplay
    }
}

extension Certificate {
    /// The addresses it names, as far as they are any.
    var mailAddresses: Set<EmailAddress> { Set(emailAddresses) }
}

extension EmailAddress {
    /// The address and its whole domain, as keys of a store.
    var scopes: Set<String> { [key, "@\(asciiDomain)"] }
}
