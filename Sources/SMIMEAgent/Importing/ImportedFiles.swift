package import ByteStreams
import Foundation
import InternetMessage
package import LibCrypto
package import PKIX
import SMIME
import SMIMEStore

/// The contents of the files of one import, sorted by kind.
package struct ImportedFiles {
    private struct LooseKey {
        let file: String
        let key: PrivateKey
    }

    package private(set) var identities: [Identity] = []
    /// The certificates for which the files contain no private key.
    package private(set) var certificates: [Certificate] = []
    package private(set) var certificateLists: [CertificateList] = []
    /// Mail to learn from.
    package private(set) var mails: [(file: String, source: any ByteSource)] = []
    package private(set) var problems: [Problem] = []
    private var looseKeys: [LooseKey] = []
    /// The most iterations of key derivation that a PKCS#12 file or an encrypted key may require.
    private let maximumIterations: Int

    /// Reads all of `files` and opens the encrypted ones.
    ///
    /// Keys and certificates in separate files are paired by public key.
    ///
    /// - Parameters:
    ///   - files: the paths of the files; `-` is standard input.
    ///   - open: opens a file; called just before that file is read.
    ///   - maximumIterations: the most iterations of key derivation that a file may require.
    /// - Throws: `AgentError`
    package init(
        _ files: [String],
        passphrases: any ImportPassphrases,
        maximumIterations: Int = PKCS12.maximumIterations,
        open: (String) throws -> any ByteSource
    ) throws {
        self.maximumIterations = maximumIterations
        let passphrases = ImportPassphrase(passphrases)
        for file in files {
            do { try read(file, try open(file), passphrases: passphrases) } catch {
                throw error as? AgentError ?? .unreadable(file: file, because: error)
            }
        }
        try pairLooseKeys()
    }

    private mutating func read(_ file: String, _ source: any ByteSource, passphrases: ImportPassphrase) throws {
        try KeyMaterial.checkSize(of: source, at: file)
        if let message = try MboxReader.isMbox(source) ? nil : CertificatesMessage(source) {
            certificates += message.certificates
            certificateLists += message.certificateLists
            return
        }
        guard try !MailSources.beginsAsMail(source) else {
            return mails.append((InputName.shown(file), source))
        }
        var bytes = try source.bytes(in: 0..<source.count)
        // `bytes` may contain an unencrypted private key.
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

    /// Lends the passphrase of `file` to `body`. If the file requires too many iterations, the error names a higher
    /// limit to try.
    private func open<Value>(
        _ file: String,
        isLocked: Bool,
        _ passphrases: ImportPassphrase,
        body: (borrowing Passphrase?) throws(CMSError) -> Value
    ) throws -> Value {
        do { return try passphrases.open(file, isLocked: isLocked, body) } catch CMSError.limitExceeded(
            PKCS12.iterationLimit
        ) {
            let more = min(
                maximumIterations.multipliedReportingOverflow(by: 10).partialValue,
                PKCS12.libcryptoMaximumIterations
            )
            throw AgentError.tooManyIterations(file: file, allowed: maximumIterations, more: more)
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
                throw AgentError.unpairedKey(file: item.file)
            }
            identities += (own[place] ?? []).map { Identity(unchecked: $0, item.key) }
        }
    }
}

/// Supplies passphrases for imported files.
package protocol ImportPassphrases {
    /// Whether one passphrase was given for all files. Otherwise `passphrase(for:)` is called for each file.
    var isGiven: Bool { get }

    /// The passphrase of the file at `path`; `-` is standard input.
    func passphrase(for path: String) throws -> Passphrase

    /// Reports that the passphrase of the file at `path` was wrong, before the user is asked again.
    func noteWrongPassphrase(for path: String)
}

/// The passphrase for the files of one import: one given passphrase for all files, or one that the user types for each file.
final class ImportPassphrase {
    private let source: any ImportPassphrases
    private var given: Passphrase?

    /// How many times a passphrase may be typed: as many times as the passphrase of a store.
    private static let tries = 2

    init(_ source: any ImportPassphrases) { self.source = source }

    /// Lends the passphrase of `file` to `body`. If no passphrase was given, or the file is not locked, `body` is first
    /// called with nil, which also opens files with an empty passphrase.
    func open<Value>(
        _ file: String,
        isLocked: Bool,
        _ body: (borrowing Passphrase?) throws(CMSError) -> Value
    ) throws -> Value {
        if isLocked, source.isGiven {
            if given == nil { given = try source.passphrase(for: file) }
            return try body(given)
        }
        do { return try body(nil) } catch CMSError.wrongPassphrase {
            guard !source.isGiven else { return try body(try source.passphrase(for: file)) }
        }
        for _ in 1..<Self.tries {
            do { return try body(try source.passphrase(for: file)) } catch CMSError.wrongPassphrase {
                source.noteWrongPassphrase(for: file)
            }
        }
        return try body(try source.passphrase(for: file))
    }
}
