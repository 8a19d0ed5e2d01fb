import ArgumentParser
import ByteStreams
import Foundation
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

extension SMIMECommand {
    struct Git: AsyncParsableCommand {
        static let name = "git"

        static let configuration = CommandConfiguration(
            commandName: name,
            _superCommandName: SMIMECommand.name,
            abstract: "Sign and verify commits and tags for git.",
            discussion: """
                git calls smime-git, a link to smime, which the Debian package installs. Without the package, make the link \
                first. Then:

                  git config --global gpg.format x509
                  git config --global gpg.x509.program smime-git
                  git config --global user.signingKey alice@example.org
                  git commit -S
                  git log --show-signature

                Signs as the account with the committer's address, or with the certificate that user.signingKey names \
                by address or fingerprint. If a signer's certificate has expired, the signature is judged as of the \
                time of signing, or of the commit if the signature states none. A warning says so, because only the \
                signer states that time. Another warning says if the certificate does not name the committer or tagger.
                """
        )

        @OptionGroup var global: GlobalOptions
        @Argument(
            help: ArgumentHelp(
                "The arguments that git passes: --status-fd=N and -bsau KEY, or --verify FILE -.",
                valueName: "word"
            )
        )
        var words: [String] = []

        func run() async throws {
            let arguments = try GitArguments(words)
            let opening = try global.opening(.readOnly)
            let content = try InputFile.standardInput()
            switch arguments.task {
            case .sign(let key):
                try await sign(content, by: GitKey(text: key), opening, descriptor: arguments.statusDescriptor)
            case .verify(let signature):
                let report: VerificationReport
                do { report = try await verdict(on: content, signature, opening: opening) } catch {
                    try? GitStatus.write(GitStatus.failed, to: arguments.statusDescriptor)
                    throw error
                }
                let people = try GitObject(content).people
                try GitStatus.write(GitStatus.verified(report, people), to: arguments.statusDescriptor)
                guard report.status == .valid else { throw report.exitStatus }
            }
        }

        private func sign(
            _ content: any ByteSource,
            by key: GitKey,
            _ opening: StoreOpening,
            descriptor: Int32?
        ) async throws {
            let store = try await opening.store()
            let time = Date.now
            let options = try await FolderLists(warn: Console.warning).added(
                to: ValidationOptions(revocation: .soft),
                in: store
            )
            let signer = try await key.selection(in: store)
                .signer(
                    for: nil,
                    isMail: false,
                    in: store,
                    at: time,
                    under: options,
                    warn: { Console.warning($0.text) }
                )
            for person in try GitObject(content).people where !person.isNamed(in: signer.identity.certificate) {
                let effect = "GitHub and GitLab show the signature as not verified"
                Console.warning(
                    "the certificate does not name the \(person.role)'s address \(person.address): \(effect)"
                )
            }
            let protector = ContentProtector(content)
            try Output.write(to: nil) { sink in
                try PEMObject.write(to: sink, label: "SIGNED MESSAGE") {
                    try protector.sign(by: signer, as: .detached, at: time, to: $0)
                }
            }
            try GitStatus.write(
                GitStatus.created(by: signer.identity.certificate, signer.digest, at: time),
                to: descriptor
            )
        }

        /// Judges the signature in the file at `path`, and shows the verdict. If a certificate has expired, the
        /// signature is judged as of the claimed time; if it was valid then, it is accepted, with a warning.
        private func verdict(
            on content: any ByteSource,
            _ path: String,
            opening: StoreOpening
        ) async throws -> VerificationReport {
            let signature = try PEMObject.stream(of: try InputFile.signature(path))
            func report(at time: Date) async throws -> VerificationReport {
                let provider = StoreKeyProvider(opening, warn: Console.warning)
                let opener = MessageOpener(provider, at: time, options: ValidationOptions(revocation: .soft))
                return try await opener.verify(cms: signature, detached: content).report
            }
            var judged = try await report(at: .now)
            if judged.status == .expired, let claim = try Self.claimedTime(of: judged, content), claim.time < .now {
                let then = try await report(at: claim.time)
                if then.status == .valid {
                    let basis = "as of \(claim.time.timestamp), \(claim.origin) that only the signer states"
                    Console.warning("\(Self.expiry(in: judged)); judged \(basis)")
                    judged = then
                }
            }
            let context = try await opening.store().context(of: judged)
            let verdict = judged.readVerdict(isEncrypted: false, context)
            Console.note(verdict.sentence)
            if judged.status != .valid { verdict.remarks.forEach { Console.note("  \($0)") } }
            try Self.warnOfOthers(than: judged, in: content)
            if let hint = judged.gitHint(context) { Console.hint(hint) }
            return judged
        }

        /// A clause that says which certificate in the chain of the deciding signer has expired.
        private static func expiry(in report: VerificationReport) -> String {
            let signer = report.decidingSigner
            let name = signer?.name ?? "unknown"
            guard signer?.time.problems.contains(where: { $0.kind == .certificateExpired }) == false else {
                return "the certificate of \(name) has expired"
            }
            let authority = signer?.path.dropFirst().first { $0.notAfter < .now }
            let subject = authority?.subject.description ?? "an authority"
            return "the certificate of \(subject), above that of \(name), has expired"
        }

        /// Warns if no signer's certificate names the committer or tagger. That line of the object is signed, but the signer can
        /// write any name and address into it. git shows the warning with the verdict.
        private static func warnOfOthers(than report: VerificationReport, in content: any ByteSource) throws {
            let certificates = report.signers.compactMap(\.certificate)
            guard ![.invalid, .malformed, .unsigned].contains(report.status), let name = report.signers.first?.name
            else {
                return
            }
            let object = try GitObject(content)
            if object.isUnclear {
                Console.warning(
                    "the committer or tagger cannot be read here: git may show another person than \(name)"
                )
            }
            for person in object.people where !certificates.contains(where: person.isNamed(in:)) {
                Console.warning(
                    "the certificate of \(name) does not name the \(person.role)'s address \(person.address)"
                )
            }
        }

        /// The earliest time at which a signer claims to have signed, and where it is stated. If a signature states no time,
        /// the time in the commit or tag counts, too, because it is signed; nil if the commit or tag then states no time.
        private static func claimedTime(
            of report: VerificationReport,
            _ content: any ByteSource
        ) throws -> (time: Date, origin: String)? {
            let times = report.signers.compactMap(\.signingTime)
            if let time = times.min(), times.count == report.signers.count { return (time, "the signing time") }
            return try GitObject(content).time.map { time in
                ((times + [time]).min() ?? time, "the time in the commit or tag")
            }
        }
    }
}

/// The arguments with which git calls the program that `gpg.x509.program` names.
///
/// git writes `--status-fd=2 -bsau KEY` to sign and `--status-fd=1 --verify SIGNATURE -` to verify; other programs write the
/// long names. Other arguments are rejected.
///
/// git: gpg-interface.c; gpgsm(1)
struct GitArguments: Equatable {
    /// What git asks for.
    enum Task: Equatable {
        /// Sign standard input with the key of this name.
        case sign(key: String)
        /// Verify the signature in this file over standard input.
        case verify(signature: String)
    }

    let task: Task
    /// The file descriptor for status lines; if nil, no status lines are written.
    private(set) var statusDescriptor: Int32?

    /// Options for behaviour that this command always has; they are ignored.
    private static let implied: Set<String> = [
        "--armor", "--batch", "--detach-sign", "--no-tty", "--sign", "-a", "-b", "-bsa", "-s",
    ]

    /// Reads the arguments. Call this before anything is opened.
    ///
    /// - Throws: `Failure` with status 64, also if the descriptor for status lines is not open.
    init(_ words: [String]) throws {
        var rest = words[...]
        var (key, signature): (String?, String?)
        func value(of word: String) throws -> String {
            if let sign = word.firstIndex(of: "="), word.hasPrefix("--") {
                return String(word[word.index(after: sign)...])
            }
            guard let next = rest.popFirst(), !next.isEmpty else { throw Failure(.usage, "'\(word)' needs a value") }
            return next
        }
        while let word = rest.popFirst() {
            switch word.prefix(while: { $0 != "=" }) {
            case "--status-fd":
                guard let number = Int32(try value(of: word)), number > 0 else {
                    throw Failure(.usage, "--status-fd takes the number of a descriptor")
                }
                guard CallerDescriptor.claim(number), CallerDescriptor.isWritable(number) else {
                    throw Failure(.usage, "--status-fd \(number): not open for writing")
                }
                statusDescriptor = number
            case "-bsau", "-u", "--local-user": key = try value(of: word)
            case "--verify": signature = try value(of: word)
            case "--keyid-format": _ = try value(of: word)
            case "-": break
            default:
                guard Self.implied.contains(word) else {
                    throw Failure(.usage, "'\(word)': not an option that git passes", hints: ["see smime git --help"])
                }
            }
        }
        switch (key, signature) {
        case (let key?, nil): task = .sign(key: key)
        case (nil, let signature?): task = .verify(signature: signature)
        default: throw Failure(.usage, "say what to do: -bsau KEY to sign, --verify FILE - to verify")
        }
    }
}
