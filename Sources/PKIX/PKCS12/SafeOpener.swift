import LibCrypto
import SwiftASN1

/// Opens the parts of a PKCS#12 file one after the other and collects their contents.
struct SafeOpener {
    private(set) var keys: [(key: PrivateKey, friendlyName: String?)] = []
    private(set) var certificates: [(certificate: Certificate, friendlyName: String?)] = []
    private(set) var certificateLists: [CertificateList] = []
    private(set) var problems: [Problem] = []
    /// The error of the first key or part that was ignored because it cannot be read; nil if there is none.
    private(set) var failure: CMSError?

    private var budget: DerivationBudget
    /// The passphrase forms to try; the form that succeeded last comes first.
    private var forms: [PassphraseForm]
    /// The last derived key.
    private var lastKey: PasswordEncryption.DerivedKey?

    /// Checks the derivation cost of the MAC, of all encrypted parts and of the keys in unencrypted parts, and then the MAC.
    init(_ pfx: PFX, forms: [PassphraseForm], budget: DerivationBudget) throws(CMSError) {
        (self.forms, self.budget) = (forms, budget)
        let macCost = try pfx.mac?.cost()
        if let macCost { try self.budget.spend(macCost) }
        for safe in pfx.safes {
            switch safe {
            case .encrypted(let scheme, _): try self.budget.spend(scheme.cost())
            case .plain(let bags): try spend(bags)
            case .unsupported: break
            }
        }
        if pfx.hasTrailingBytes { warn(.pkcs12TrailingBytes, "bytes follow the PKCS#12 structure") }
        guard let mac = pfx.mac, let macCost else {
            warn(.pkcs12NoMAC, "the file has no MAC: nothing shows whether it was changed")
            return
        }
        for index in forms.indices where index == 0 || self.budget.trySpendAgain(macCost) {
            guard try mac.isValid(over: pfx.authenticated, with: forms[index]) else { continue }
            self.forms.swapAt(0, index)
            return
        }
        throw .wrongPassphrase
    }

    mutating func open(_ safes: [PFX.Safe]) throws(CMSError) {
        for safe in safes {
            switch safe {
            case .encrypted(let scheme, let ciphertext):
                let bags = try decrypt(ciphertext, scheme) { plain in try SafeBag.list(plain) }
                try spend(bags)
                try open(bags)
            case .plain(let bags): try open(bags)
            case .unsupported(let name): skip(name)
            }
        }
    }

    private mutating func open(_ bags: [SafeBag]) throws(CMSError) {
        for bag in bags {
            switch bag.content {
            case .bags(let inner): try open(inner)
            case .certificate(let der): try add(der, bag.friendlyName)
            case .certificateList(let der):
                if let list = try? CertificateList(der: der), (try? list.checkEntries()) != nil {
                    certificateLists.append(list)
                } else {
                    warn(.pkcs12BadCRL, "a revocation list in the file cannot be read")
                }
            case .encryptedKey(let scheme, let ciphertext):
                var pkcs8 = try decrypt(ciphertext, scheme) { plain in
                    _ = try ASN1Node.read(plain)
                    return plain
                }
                defer { pkcs8.wipe() }
                try add(pkcs8: pkcs8, bag.friendlyName)
            case .key(let secret):
                var pkcs8 = secret.copied()
                defer { pkcs8.wipe() }
                try add(pkcs8: pkcs8, bag.friendlyName)
            case .unsupported(let name): skip(name)
            }
            guard certificates.count + certificateLists.count <= PKCS12.maximumCertificates else {
                throw .limitExceeded("certificates in a PKCS#12 file")
            }
            guard keys.count <= PKCS12.maximumKeys else { throw .limitExceeded("keys in a PKCS#12 file") }
        }
    }

    /// Spends the cost of all keys in `bags` before any of them is opened.
    private mutating func spend(_ bags: [SafeBag]) throws(CMSError) {
        var last: PasswordEncryption?
        try spend(bags, after: &last)
    }

    /// - Parameter last: the scheme of the previous key. A key with the same scheme is not derived again.
    private mutating func spend(_ bags: [SafeBag], after last: inout PasswordEncryption?) throws(CMSError) {
        for bag in bags {
            switch bag.content {
            case .bags(let inner): try spend(inner, after: &last)
            case .encryptedKey(let scheme, _):
                if last?.sharesKey(with: scheme) != true { try budget.spend(scheme.cost()) }
                last = scheme
            default: break
            }
        }
    }

    /// Decrypts and parses with the first form of the passphrase for which both succeed: correct padding alone is not
    /// sufficient evidence.
    private mutating func decrypt<Value>(
        _ ciphertext: [UInt8],
        _ scheme: PasswordEncryption,
        parse: ([UInt8]) throws -> Value
    ) throws(CMSError) -> Value {
        let cost = try scheme.cost()
        for index in forms.indices where index == 0 || budget.trySpendAgain(cost) {
            guard var plain = try scheme.decrypt(ciphertext, with: forms[index], reusing: &lastKey) else { continue }
            defer { plain.wipe() }
            do {
                let value = try parse(plain)
                forms.swapAt(0, index)
                return value
            } catch let error as CMSError {
                if case .limitExceeded = error { throw error }
            } catch { continue }
        }
        throw .wrongPassphrase
    }

    private mutating func add(_ der: [UInt8], _ friendlyName: String?) throws(CMSError) {
        do throws(CMSError) {
            certificates.append((try Certificate(der: der), friendlyName))
        } catch {
            if case .openSSL = error { throw error }
            warn(.pkcs12BadCertificate, "a certificate in the file cannot be read")
        }
    }

    private mutating func add(pkcs8: [UInt8], _ friendlyName: String?) throws(CMSError) {
        do throws(CMSError) { keys.append((try PrivateKey(pkcs8: pkcs8), friendlyName)) } catch {
            failure = failure ?? error
            warn(.pkcs12Unsupported, "a private key in the file is ignored: \(error)")
        }
    }

    private mutating func skip(_ name: String) {
        failure = failure ?? .unsupported(name)
        warn(.pkcs12Unsupported, "a part of the file is ignored: \(name)")
    }

    private mutating func warn(_ code: ProblemCode, _ text: String) { problems.append(Problem(warning: code, text)) }
}
