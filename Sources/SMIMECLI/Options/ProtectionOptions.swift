import ArgumentParser
import ByteStreams
import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

/// The options of verbs that sign or encrypt: the output format, header protection, and the check for revocation.
///
/// These options form one flat group: the parser needs more time for a nested group than for the options in it.
struct ProtectionOptions: ParsableArguments {
    @Option(
        name: .customLong("outform"),
        help: ArgumentHelp(
            """
            The format of the output: mime (a mail), or der or pem (a bare CMS object over the exact bytes of \
            the input). (default: mime)
            """,
            valueName: "outform"
        )
    )
    var given: FormOptions.OutputForm?
    @Flag(help: "With --outform der or pem: treat the input as the content of a mail, whose line ends are CRLF.")
    var canonical = false
    @Flag(
        name: .customLong("no-header-protection"),
        help: "Do not sign or encrypt the header fields, for mail programs that cannot show such mail."
    )
    var noHeaderProtection = false
    @Option(help: .revocation) var revocation: RevocationPolicy?

    var validation: ValidationOptions { ValidationOptions(revocation: revocation ?? .soft) }

    /// The header protection of mail from `senders`.
    func headerPolicy(ofMailFrom senders: Set<EmailAddress>, in store: Store) async throws -> HeaderPolicy {
        noHeaderProtection ? .unprotected : try await store.headerPolicy(ofMailFrom: senders)
    }

    var outform: FormOptions.OutputForm { given ?? .mime }
    /// Whether the output is a CMS object without MIME.
    var isBare: Bool { outform != .mime }

    /// Rejects writing DER to a terminal.
    func check(target: String?) throws {
        guard outform == .der, target == nil, isatty(STDOUT_FILENO) == 1 else { return }
        throw Failure(
            .usage,
            "DER cannot be written to a terminal",
            hints: ["name a file with -o, or use --outform pem"]
        )
    }

    /// Lets `body` write a DER object, which is converted to the form that the user asked for.
    func write(to sink: any ByteSink, _ body: (any ByteSink) throws -> Void) throws {
        guard outform == .pem else { return try body(sink) }
        try PEMObject.write(to: sink, body)
    }

    /// The content of a CMS object without MIME, with its header if the content is mail.
    ///
    /// - Parameters:
    ///   - isText: whether the input is plain text, to which a mail header with `fields` is added.
    ///   - readsHeader: whether to read the header of a file.
    ///   - measured: adds a progress bar to the input.
    /// - Throws: `Failure` with status 65 for input that cannot be the content of mail, and the errors of reading.
    func content(
        of path: String,
        isText: Bool,
        fields: [NewField],
        readsHeader: Bool,
        measured: (any ByteSource) -> any ByteSource
    ) throws -> BareContent {
        if canonical || isText {
            let source = measured(try MessageInput.open(path, isText: isText, fields: fields))
            let mail = try LocatedEntity(reading: source)
            return BareContent(protector: ContentProtector(mail), header: mail.entity.header)
        }
        let source = measured(try InputFile.open(path))
        let header = readsHeader ? try Self.header(ofFile: source) : nil
        return BareContent(protector: ContentProtector(source), header: header)
    }

    /// The header of a file that contains mail; nil for any other file.
    private static func header(ofFile source: any ByteSource) throws -> HeaderBlock? {
        guard let header = try HeaderBlock(ofMessageIn: source), !header.separatorRange.isEmpty,
            !header.hasReturnInLine
        else {
            return nil
        }
        return header
    }
}

/// The content of a CMS object without MIME.
struct BareContent {
    let protector: ContentProtector
    /// The header if the content is mail; nil for any other file, or if the header was not read.
    let header: HeaderBlock?
}
