import ByteStreams
import Foundation
import InternetMessage
import PKIX
import SMIMEAgent
import SMIMEGateway
import SMIMEStore

extension DoctorFinding {
    /// The exit status for the finding: 0 if nothing is wrong, or smime works in spite of the fault; 1 for a fault that
    /// should be repaired soon; 2 if mail is stopped or will be stopped.
    var status: ExitStatus {
        switch urgency {
        case .never: .success
        case .soon: .negative
        case .now: .outage
        }
    }

    /// The finding's text, and the command that lists the details.
    var shownText: String {
        switch listing {
        case .expiring: "\(text): see smime list --expiring 30d"
        case .recipients: "\(text): see smime recipient list"
        case nil: text
        }
    }
}

extension DoctorRemedy {
    /// The remedies in words, each with a command if there is one.
    var hints: [String] {
        if case .resolve(let error) = self { Failure(error).hints } else { [hint] }
    }

    private var hint: String {
        switch self {
        case .advice(let text): text
        case .resolve(let error): "\(error)"
        case .addAnchors: "install ca-certificates, or use anchors of your own: smime trust add FILE"
        case .restoreMissingStore: Failure.bringBack
        case .restoreListFolder:
            "let the store's user read the folder, or name another: smime config set revocation.directory DIR"
        case .changeOwner(let path, let user): "chown -R \(shell: user) \(shell: path)"
        case .explain(let code): "what this means: smime explain \(code.rawValue)"
        case .findPostfix: "install Postfix, or say where its configuration is: --mta-config"
        case .forgetList(let fingerprint): "if it is no longer needed: smime trust remove \(fingerprint)"
        case .importIssuer(let certificate):
            "add the certificate of \(certificate.issuer), which issued \(certificate.subject): "
                + "smime import FILE-OF-THE-ISSUER"
        case .importKey: "import your key: smime import FILE"
        case .importList: "get a newer one, then: smime import FILE"
        case .learn(let address): "ask for signed mail, or smime recipient add \(shell: address) FILE"
        case .listSettings: "see smime config list"
        case .repairSource(let kind): "repair it, or remove the setting: smime config unset lookup.\(kind)"
        case .renew: "have a new certificate issued, then smime import FILE"
        case .renewRevoked: "if the account has no other certificate: have a new one issued, then smime import FILE"
        case .replaceList(let path):
            "replace it by a newer one, and check the program that fetches it; or remove the file if it is not needed: rm \(shell: path)"
        case .restoreStore: "put back a copy: smime store restore FILE"
        case .setUpPostfix:
            "say where its configuration is, --mta-config DIR; or set it up first (Debian: dpkg-reconfigure postfix)"
        case .showAccount(let address): "see smime account show \(shell: address)"
        case .trustHeld(let address, let fingerprint):
            "after comparing its fingerprint: smime recipient trust \(shell: address) --fingerprint \(fingerprint)"
        case .trustRoot(let root): "if \(root.subject) is the right root: smime trust add \(root.fingerprint)"
        }
    }
}

/// Runs postconf(1), the program that prints Postfix's configuration.
enum Postconf {
    /// The output of postconf with `arguments`; at most the first MiB.
    ///
    /// - Throws: `Failure` with status 66 if postconf is not found or fails
    static func run(_ arguments: [String]) throws -> String {
        let path = ProcessEnvironment["PATH"] ?? ""
        let candidates = (path.split(separator: ":").map(String.init) + ["/usr/sbin"]).map { "\($0)/postconf" }
        guard let program = candidates.first(where: { access($0, X_OK) == 0 }) else {
            throw Failure(.noInput, "postconf: not found")
        }
        let output = try SpooledFile { _ in }
        let child = ChildProgram(path: program, words: ["postconf"] + arguments, standardOutput: output.descriptor)
        guard try child.run() == .exited(0) else { throw Failure(.noInput, "\(program): failed") }
        let source = try output.rewound()
        return String(decoding: try source.bytes(in: 0..<min(source.count, 1 << 20)), as: UTF8.self)
    }
}
