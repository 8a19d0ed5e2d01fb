import ByteStreams
import Foundation
import InternetMessage
import LibCrypto
import PKIX
import SMIME
import SMIMEStore

/// What the FILEs of one command hold, sorted by what becomes of it.
struct ImportedFiles {
    private struct LooseKey {
        let file: String
        let key: PrivateKey
    }

    private(set) var identities: [Identity] = []
    /// Certificates that came without a key.
    private(set) var certificates: [Certificate] = []
    private(set) var certificateLists: [CertificateList] = []
    /// Mail to learn from.
    private(set) var mails: [(file: String, source: any ByteSource)] = []
    private(set) var problems: [Problem] = []
    private var looseKeys: [LooseKey] = []
    /// How many iterations of key derivation a PKCS#12 file or an encrypted key may ask for.
    private let maximumIterations: Int

    /// Reads all of `files`, opening what is encrypted.
    ///
    /// Keys and certificates that came in separate files are paired by public key.
    /// - Throws: `Failure` with status 65 for a file that is not what it should be or a key without a certificate, 66,
    ///   77 for a wrong or missing passphrase.
    init(_ files: [String], passwords: PasswordOptions, maximumIterations: Int = PKCS12.maximumIterations) throws {
        self.maximumIterations = maximumIterations
        let passphrases = ImportPassphrase(passwords)
        for file in files {
            do { try read(file, passphrases) } catch { throw Failure(error, in: InputFile.name(file)) }
        }
        try pairLooseKeys()
    }

    private mutating func read(_ file: String, _ passphrases: ImportPassphrase) throws {
        let source = try InputFile.open(file, mayBeSecret: true)
        if let message = try MboxReader.isMbox(source) ? nil : CertificatesMessage(source) {
            certificates += message.certificates
            certificateLists += message.certificateLists
            return
        }
        guard try !MailSources.isMailFromSomebody(source) else {
            return mails.append((InputFile.name(file), source))
        }
        var bytes = try InputFile.bytes(of: source, at: file)
        // A private key may stand in it as it is.
        defer { bytes.wipe() }
        for item in try KeyMaterial.read(bytes) {
            switch item {
            case .certificate(let certificate): certificates.append(certificate)
            case .certificateList(let list):
                try list.checkEntries()
                certificateLists.append(list)
            case .privateKey(let encoded):
                let key = try open(file, isLocked: encoded.isEncrypted, passphrases) { passphrase throws(CMSError) in
                    try encoded.decode(passphrase: passphrase, maximumIterations: maximumIterations)
                }
                looseKeys.append(LooseKey(file: file, key: key))
            case .pkcs12(let bytes):
                let contents = try open(file, isLocked: true, passphrases) { passphrase throws(CMSError) in
                    try PKCS12(bytes, passphrase: passphrase, maximumIterations: maximumIterations)
                }
                identities += contents.identities
                certificates += contents.certificates
                certificateLists += contents.certificateLists
                problems += contents.problems
            }
        }
    }

    /// Lends the passphrase of `file` to `body`, and says how to allow more where it asks for too many iterations.
    private func open<Value>(
        _ file: String,
        isLocked: Bool,
        _ passphrases: ImportPassphrase,
        _ body: (borrowing Passphrase?) throws(CMSError) -> Value
    ) throws -> Value {
        do { return try passphrases.open(file, isLocked: isLocked, body) } catch CMSError.limitExceeded(
            PKCS12.iterationLimit
        ) {
            let more = min(maximumIterations.multipliedReportingOverflow(by: 10).partialValue, PKCS12.mostIterations)
            throw Failure(
                .badData,
                "\(InputFile.name(file)): asks for more than \(maximumIterations) \(PKCS12.iterationLimit)",
                hints: [
                    "if you know who made it, allow it more for once, which takes longer: "
                        + "smime import --max-iterations \(more) \(shell: file)"
                ]
            )
        }
    }

    private mutating func pairLooseKeys() throws {
        var seen: Set<[UInt8]> = []
        let loose = looseKeys.filter { seen.insert($0.key.publicKeyInfo).inserted }
        let index = PrivateKeyIndex(loose.map(\.key))
        var paired = Set(identities.flatMap { index.places(for: $0.certificate) })
        var own: [Int: [Certificate]] = [:]
        certificates = certificates.filter { certificate in
            let places = index.places(for: certificate)
            paired.formUnion(places)
            guard let first = places.first else { return true }
            own[first, default: []].append(certificate)
            return false
        }
        for (place, item) in loose.enumerated() {
            guard paired.contains(place) else {
                throw Failure(
                    .badData,
                    "\(InputFile.name(item.file)): no certificate among the files belongs to this private key",
                    hints: ["name the file of its certificate, too"]
                )
            }
            identities += (own[place] ?? []).map { Identity(unchecked: $0, item.key) }
        }
    }
}

/// The passphrase for the files of one command: the one that was given, for all of them, or one typed for each.
private final class ImportPassphrase {
    private let options: PasswordOptions
    private var given: Passphrase?

    /// How often a passphrase may be typed.
    private static let tries = 3

    init(_ options: PasswordOptions) { self.options = options }

    /// Lends the passphrase of `file` to `body`. Unless one is given, no passphrase is tried first, which opens files
    /// with an empty one, too.
    func open<Value>(
        _ file: String,
        isLocked: Bool,
        _ body: (borrowing Passphrase?) throws(CMSError) -> Value
    ) throws -> Value {
        if isLocked, options.isGiven {
            if given == nil { given = try options.passphrase("for \(InputFile.name(file))") }
            return try body(given)
        }
        do { return try body(nil) } catch CMSError.wrongPassphrase {
            guard !options.isGiven else { return try body(try options.passphrase("for \(InputFile.name(file))")) }
        }
        for _ in 1..<Self.tries {
            do { return try body(try options.passphrase("for \(InputFile.name(file))")) } catch CMSError.wrongPassphrase
            {
                Console.warning("\(InputFile.name(file)): wrong passphrase, try again")
            }
        }
        return try body(try options.passphrase("for \(InputFile.name(file))"))
    }
}
