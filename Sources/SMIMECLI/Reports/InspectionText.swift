import CMSSyntax
import Foundation
import InternetMessage
import PKIX
import SMIME

/// An inspection as text: an indented tree that is safe to print.
struct InspectionText {
    private var tree: TextTree
    private let time: Date
    private let names: [EntityIdentifier: String]
    /// The certificates that are already in the tree.
    private var drawn: Set<Fingerprint> = []

    /// The report on `file`; each line has its line end.
    ///
    /// - Parameter names: the owners, from the store, of certificates that the file refers to.
    static func text(
        _ inspection: Inspection,
        opened: OpenedPKCS12?,
        file: String,
        names: [EntityIdentifier: String],
        at time: Date
    ) -> String {
        var text = InspectionText(tree: TextTree("\(file): \(inspection.title)"), time: time, names: names)
        text.add(inspection.problems, 1)
        switch inspection.subject {
        case .certificates(let items):
            text.add(items.certificates, 1)
            items.forEach { text.add($0, 1) }
        case .cms(let layer): text.add(layer, 1)
        case .message(let part): text.add(part, 1)
        case .pkcs12(let outline): text.add(outline, 1)
        }
        if let opened {
            for certificate in opened.own {
                text.add("private key of", 1)
                let issuers = IssuerSearch(among: opened.own + opened.others).issuers(of: certificate)
                text.add(certificate, issuedBy: issuers, 2)
            }
            text.add(opened.others, 1)
        }
        return text.tree.text
    }

    private mutating func add(_ line: String, _ level: Int) {
        tree.add(line, level: level)
    }

    private mutating func add(_ problems: [Problem], _ level: Int) {
        for problem in problems { add("\(problem.level.rawValue): \(problem.text) (\(problem.code))", level) }
    }

    private mutating func add(_ part: Inspection.Part, _ level: Int) {
        var words = [part.mediaType] + part.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        if let filename = part.filename { words.append("\"\(filename)\"") }
        words += [part.transferEncoding, Self.bytes(part.count)]
        add(words.joined(separator: ", "), level)
        add(part.problems, level + 1)
        if let layer = part.layer { add(layer, level + 1) }
        for inner in part.parts { add(inner, level + 1) }
    }

    private mutating func add(_ layer: Inspection.Layer, _ level: Int) {
        let outline = layer.outline
        add(outline.title, level)
        add(layer.problems, level + 1)
        for signer in outline.signers { add(signer, outline.certificates, level: level + 1) }
        for recipient in outline.recipients { add(recipient, level + 1) }
        list("authenticated attributes", outline.authenticatedAttributes, level: level + 1)
        list("unprotected attributes", outline.unprotectedAttributes, level: level + 1)
        add(outline.certificates, level + 1)
        for list in outline.certificateLists { add(list, level + 1) }
        switch layer.content {
        case nil: break
        case .layer(let inner): add(inner, level + 1)
        case .part(let part): add(part, level + 1)
        }
    }

    private mutating func add(_ signer: SignerInfo, _ certificates: [Certificate], level: Int) {
        let certificate = signer.identifier.matching(certificates).first
        let name = certificate.map { "\($0.subject)" } ?? names[signer.identifier]
        add("signer \(name ?? "whose certificate is not included")", level)
        add("named by \(signer.identifier)", level + 1)
        add("signature \(signer.signatureName) with \(signer.digestName)", level + 1)
        if let time = signer.signingTime { add("signing time \(time.timestamp)", level + 1) }
        list("signed attributes", signer.signedAttributeTypes, level: level + 1)
        list("unsigned attributes", signer.unsignedAttributeTypes, level: level + 1)
        list("capabilities", SMIMECapability.names(of: signer.capabilities), level: level + 1)
    }

    private mutating func add(_ recipient: RecipientInfo, _ level: Int) {
        let algorithm = recipient.algorithm + (recipient.algorithmDetail.map { " (\($0))" } ?? "")
        let who = recipient.identifier.map { "\($0)" } ?? "\(recipient.kind.rawValue), no certificate"
        let name = recipient.identifier.flatMap { names[$0] }.map { "\($0), named by " } ?? ""
        add("recipient \(name)\(who), \(algorithm)", level)
    }

    private mutating func add(_ item: KeyMaterial, _ level: Int) {
        switch item {
        case .certificateList(let list): add(list, level)
        case .privateKey(let key): add("private key, \(key.isEncrypted ? "encrypted" : "not encrypted")", level)
        default: break
        }
    }

    /// Adds the certificates, each below the one that it issued. A certificate that is already in the tree is left out.
    private mutating func add(_ certificates: [Certificate], _ level: Int) {
        let search = IssuerSearch(among: certificates)
        let issuers = Set(certificates.flatMap { search.issuers(of: $0).map(\.fingerprint) })
        // Certificates that issued each other in a circle have no lowest one.
        let lowest = certificates.filter { !issuers.contains($0.fingerprint) }
        for certificate in lowest + certificates where !drawn.contains(certificate.fingerprint) {
            add(certificate, issuedBy: search.issuers(of: certificate), level)
        }
    }

    /// Adds a certificate, and under it its issuers, each with a deeper level.
    private mutating func add(_ certificate: Certificate, issuedBy issuers: [Certificate], _ level: Int) {
        add("certificate \(certificate.subject)", level)
        drawn.insert(certificate.fingerprint)
        var (last, level) = (certificate, level + 1)
        for issuer in issuers {
            addDetails(of: last, level)
            let isNew = drawn.insert(issuer.fingerprint).inserted
            add("issued by \(issuer.subject)\(isNew ? "" : ", shown above")", level)
            guard isNew else { return }
            (last, level) = (issuer, level + 1)
        }
        if !last.isSelfIssued { add("issuer \(last.issuer)", level) }
        addDetails(of: last, level)
    }

    private mutating func addDetails(of certificate: Certificate, _ level: Int) {
        list("addresses", certificate.addresses, level: level)
        let state = certificate.isValid(at: time) ? "" : certificate.notAfter < time ? ", expired" : ", not yet valid"
        add("valid \(certificate.notBefore.day) to \(certificate.notAfter.day)\(state)", level)
        let kind = certificate.isCertificateAuthority ? ", certificate authority" : ""
        add("key \(certificate.publicKeyAlgorithm)\(kind)", level)
        if let usage = certificate.keyUsage { add("usage \(usage)", level) }
        add("fingerprint \(certificate.fingerprint)", level)
    }

    private mutating func add(_ list: CertificateList, _ level: Int) {
        add("revocation list of \(list.issuer)", level)
        let next = list.nextUpdate.map { ", next \($0.day)" } ?? ""
        add("issued \(list.thisUpdate.day)\(next)\(list.isCurrent(at: time) ? "" : ", not current")", level + 1)
        add("fingerprint \(list.fingerprint)", level + 1)
    }

    private mutating func add(_ outline: PKCS12Outline, _ level: Int) {
        add("mac \(outline.mac ?? "none")", level)
        for part in outline.parts {
            let bags = part.bags.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
            add(part.encryption.map { "encrypted with \($0)" } ?? "not encrypted as a whole: \(bags)", level)
            for encryption in part.keyEncryptions { add("key encrypted with \(encryption)", level + 1) }
        }
    }

    private mutating func list(_ name: String, _ values: [String], level: Int) {
        if !values.isEmpty { add("\(name) \(values.joined(separator: ", "))", level) }
    }

    fileprivate static func bytes(_ count: Int) -> String { count == 1 ? "1 byte" : "\(count) bytes" }
}

extension Inspection {
    fileprivate var title: String {
        switch subject {
        case .certificates: "keys and certificates"
        case .cms: "CMS object"
        case .message: "message"
        case .pkcs12: "PKCS#12"
        }
    }
}

extension CMSOutline {
    fileprivate var title: String {
        let algorithm = type == .signedData ? algorithms.joined(separator: ", ") : layerAlgorithm
        var title = layerType + (algorithm.isEmpty ? "" : " with \(algorithm)")
        if let contentType, contentType != "data" { title += ", content \(contentType)" }
        if let contentCount { return title + ", \(InspectionText.bytes(contentCount))" }
        return title + (type == .signedData && !isCertificatesOnly ? ", detached" : "")
    }
}
