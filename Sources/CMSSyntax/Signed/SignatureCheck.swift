import LibCrypto
package import PKIX
import SwiftASN1

/// The result of checking one signature: the certificates whose keys verify it, and all problems.
package struct SignatureCheck: Sendable {
    /// Up to `SignedData.maximumChoice` certificates of one key that match the SignerInfo and verify the signature. The caller
    /// chooses the best one. A key may have several certificates, and an attacker can put a damaged copy first. If no key
    /// verifies the signature, this is the first matching certificate, or empty if none matches.
    package let certificates: [Certificate]
    /// The problems of integrity. An error means that the content is not what was signed, or that this cannot be determined.
    package let problems: [Problem]
    /// Whether the content differs from the signed message digest.
    package let isContentChanged: Bool
}

/// The result of checking a signer's attributes and algorithms, without its certificate.
private struct AttributeCheck {
    var problems: [Problem] = []
    /// Whether it can be determined which digest was signed.
    var isDigestKnown = true
    /// Whether the content differs from the signed message digest.
    var isContentChanged = false
}

extension SignedData {
    /// Checks the signature of `signer` over the content that was read, with the matching certificates in `candidates`, until
    /// one verifies it.
    ///
    /// Several certificates may have the same key identifier, so the matching ones are tried in turn (RFC 8551 §2.6), within a
    /// budget.
    ///
    /// RFC 5652 §5.6
    package func check(_ signer: SignerInfo, candidates: [Certificate]) -> SignatureCheck {
        let attributes = attributeCheck(signer)
        var problems = attributes.problems
        func result(_ certificates: [Certificate]) -> SignatureCheck {
            SignatureCheck(
                certificates: certificates,
                problems: problems,
                isContentChanged: attributes.isContentChanged
            )
        }
        let bindings = signer.signingCertificates
        var matching = signer.identifier.matching(candidates)
        // Several certificates may have the same key: those that a signing-certificate attribute names are tried first.
        let boundCount = matching.partition { candidate in !bindings.allSatisfy { $0.matches(candidate) } }
        guard let first = matching.first else {
            problems.append(
                Problem(.signerCertificateMissing, "the signer's certificate is not included and not known")
            )
            return result([])
        }
        // The digest algorithm is unknown or contradictory. The report says so, and the signature value cannot be checked.
        guard attributes.isDigestKnown else { return result([first]) }
        do {
            let signature = try SignatureAttempt(signer, of: self)
            var allowance = Self.allowance / max(1, signers.count)
            var triedCount = 0
            var isEveryOneTried = true
            // One candidate can take long for an honest message, too: some schemes hash the content for each key.
            func isAllowed(_ cost: Int) -> Bool {
                allowance -= cost
                let isAllowed = allowance >= 0 || triedCount == 0 && cost <= Self.allowance / 4
                triedCount += 1
                isEveryOneTried = isEveryOneTried && isAllowed
                return isAllowed
            }
            let place = try matching.firstIndex { candidate in
                try isAllowed(candidate.verificationCost + signature.hashingCost)
                    && signature.fits(candidate)
            }
            if let place {
                problems += certificateProblems(matching[place], isBound: place < boundCount)
                let equals = matching[place..<(place < boundCount ? boundCount : matching.count)].lazy.filter {
                    $0.publicKeyInfo == matching[place].publicKeyInfo
                }
                return result(Array(equals.prefix(Self.maximumChoice)))
            } else if !isEveryOneTried {
                let text = "not all certificates that could be the signer's were tried, because that takes too long"
                problems.append(Problem(.signerAmbiguous, text))
            } else {
                problems.append(Problem(.signatureInvalid, "the signature does not match the signer's key"))
            }
            return result([first])
        } catch CMSError.unsupported(let what) {
            problems.append(Problem(.algorithmUnsupported, "\(what) is not supported"))
        } catch {
            problems.append(Problem(.signatureInvalid, "the signature cannot be checked: \(error)"))
        }
        return result([first])
    }

    /// The maximum number of certificates with one key from which the best is chosen.
    static let maximumChoice = 8

    /// The budget for trying certificates for all signers, in units of `Certificate.verificationCost`.
    private static let allowance = 5000

    /// The digests that the signature may cover: of the content, or of the signed attributes.
    fileprivate func signedDigests(_ signer: SignerInfo, _ digest: DigestAlgorithm) throws -> [[UInt8]] {
        try signer.signedMessages()?.map { try digest.digest($0) } ?? contentDigests[digest].map { [$0] } ?? []
    }

    /// The messages that the signature may cover, for schemes that do their own hashing.
    fileprivate func signedMessages(_ signer: SignerInfo) throws -> [[UInt8]] {
        if let messages = try signer.signedMessages() { return messages }
        guard let wholeContent else {
            let limit = ContentHasher.maximumKept >> 20
            throw CMSError.unsupported("\(signer.signatureName) without signed attributes over more than \(limit) MiB")
        }
        return [wholeContent]
    }

    private func attributeCheck(_ signer: SignerInfo) -> AttributeCheck {
        var check = AttributeCheck()
        switch signer.digest {
        case _ where signer.ignoresDigest: break
        case nil:
            check.isDigestKnown = false
            check.problems.append(Problem(.algorithmUnsupported, "the digest \(signer.digestName) is not supported"))
        case .md5: check.problems.append(Problem(.digestMD5, "MD5 is broken, so the signature may be forged"))
        case .sha1: check.problems.append(Problem(warning: .digestSHA1, "SHA-1 is no longer safe"))
        default: break
        }
        if let digest = signer.digest, !signer.ignoresDigest, !digestAlgorithms.contains(digest) {
            let text = "the signer's digest algorithm is missing from digestAlgorithms"
            check.problems.append(Problem(.digestNotAnnounced, text))
        }
        if let fixed = (try? SignatureAlgorithm(signer.signatureAlgorithm))?.digest, fixed != signer.digest {
            check.isDigestKnown = false
            check.problems.append(Problem(.digestMismatch, "signature and digest name different algorithms"))
        }
        typealias AttributeType = ASN1ObjectIdentifier.CMSAttribute
        let secure = [
            AttributeType.smimeCapabilities, AttributeType.encryptionKeyPreference, AttributeType.signingTime,
            AttributeType.messageDigest,
            AttributeType.contentType, AttributeType.signingCertificate, AttributeType.signingCertificateV2,
        ]
        if signer.unsignedAttributes.contains(where: { secure.contains($0.type) }) {
            check.problems.append(
                Problem(.attributeUnsigned, "an unsigned attribute is ignored, because it must be a signed one")
            )
        }
        if signer.signedAttributesEncoding == nil {
            check.problems += bareProblems(signer)
        } else {
            checkSigned(signer, &check)
        }
        return check
    }

    /// Problems of a signature without signed attributes: the content type must be id-data (RFC 5652 §5.3).
    private func bareProblems(_ signer: SignerInfo) -> [Problem] {
        guard isData else {
            return [Problem(.contentTypeAttribute, "content of a type other than data has no signed attributes")]
        }
        guard resemblesAttributes else { return [] }
        // An attacker could present the attributes of another signature as content that was signed without attributes.
        return [Problem(.contentIsAttributes, "the content looks like the signed attributes of another signature")]
    }

    private func checkSigned(_ signer: SignerInfo, _ check: inout AttributeCheck) {
        typealias AttributeType = ASN1ObjectIdentifier.CMSAttribute
        let type = signer.signedValue(AttributeType.contentType).flatMap { try? ASN1ObjectIdentifier(berEncoded: $0) }
        if type != contentTypeOID {
            let text = "the signed content type is missing, repeated, or different from the content's"
            check.problems.append(Problem(.contentTypeAttribute, text))
        }
        let value = signer.signedValue(AttributeType.messageDigest).flatMap { try? ASN1OctetString(berEncoded: $0) }
        if let value {
            if let digest = signer.digest, contentDigests[digest] != Array(value.bytes) {
                check.isContentChanged = true
                check.problems.append(Problem(.contentChanged, "the content is not what was signed"))
            }
        } else {
            check.problems.append(Problem(.messageDigestAttribute, "the signed message digest is missing or repeated"))
        }
        for once in [AttributeType.signingTime, AttributeType.smimeCapabilities, AttributeType.encryptionKeyPreference]
        where !signer.signedAttributes.all(once).isEmpty && signer.signedValue(once) == nil {
            check.problems.append(Problem(.attributeDoubled, "a signed attribute is given more than once: \(once)"))
        }
        if !signer.signedAttributes.all(AttributeType.signingTime).isEmpty, signer.signingTime == nil {
            check.problems.append(Problem(.signingTimeMalformed, "the signing time cannot be read"))
        }
    }

    private func certificateProblems(_ certificate: Certificate, isBound: Bool) -> [Problem] {
        var problems: [Problem] = []
        if !isBound {
            problems.append(Problem(.signerCertificateMismatch, "the signature is bound to another certificate"))
        }
        if certificate.publicKeyAlgorithm.isDSA {
            problems.append(Problem(.signatureDSA, "DSA is no longer used for signing"))
        }
        return problems
    }
}

/// A signature value and everything that does not depend on the certificate.
private struct SignatureAttempt {
    private let signature: [UInt8]
    private let algorithm: SignatureAlgorithm
    /// The digest; nil if the scheme ignores it.
    private let digest: DigestAlgorithm?
    /// The digests, or for some schemes the messages, that the signature may cover.
    private let values: [[UInt8]]

    init(_ signer: SignerInfo, of data: SignedData) throws {
        signature = signer.signature
        algorithm = try reporting(.cms) { try SignatureAlgorithm(signer.signatureAlgorithm) }
        digest = signer.ignoresDigest ? nil : signer.digest
        guard let digest else {
            guard signer.ignoresDigest else { throw CMSError.unsupported("the signer's digest") }
            values = try reporting(.cms) { try data.signedMessages(signer) }
            return
        }
        let takesMessage = algorithm.scheme.takesMessage
        values = try reporting(.cms) {
            try takesMessage ? data.signedMessages(signer) : data.signedDigests(signer, digest)
        }
    }

    /// The additional cost for each certificate: a scheme that does its own hashing includes the public key in the hash, so
    /// the whole message is hashed again for each key.
    var hashingCost: Int { algorithm.scheme.takesMessage ? values.reduce(0) { $0 + $1.count } >> 14 : 0 }

    /// Whether the key of `certificate` verifies the signature.
    func fits(_ certificate: Certificate) throws -> Bool {
        guard algorithm.digest == nil || algorithm.digest == digest,
            algorithm.scheme.fits(certificate.publicKeyAlgorithm)
        else { return false }
        let key = try reporting(.certificate) { try certificate.publicKey() }
        guard !algorithm.scheme.takesMessage else { return values.contains { key.verify(signature, message: $0) } }
        guard let digest else { return false }
        return values.contains { key.verify(signature, of: $0, digest: digest, padding: algorithm.scheme.padding) }
    }
}

extension SignerInfo {
    /// The encodings of the signed attributes that the signature may cover: as received, but with the tag of a SET; and
    /// additionally in DER if they were received in another encoding. Nil if there are no signed attributes.
    fileprivate func signedMessages() throws -> [[UInt8]]? {
        guard var received = signedAttributesEncoding else { return nil }
        received[0] = 0x31
        let canonical = try signedAttributes.derSet()
        return received == canonical ? [received] : [received, canonical]
    }
}
