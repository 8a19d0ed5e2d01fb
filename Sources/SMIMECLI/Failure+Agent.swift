import Foundation
import SMIMEAgent

extension Failure {
    init(agent error: AgentError) {
        if case .unreadable(let file, let cause) = error {
            self.init(cause, in: InputFile.name(file))
        } else {
            self.init(Self.status(of: error), "\(error)", hints: Self.hints(for: error))
        }
    }

    private static func status(of error: AgentError) -> ExitStatus {
        switch error {
        case .tooBigForKeys, .tooManyIterations, .unpairedKey: .badData
        case .nothingToImport, .unnamedIdentity: .noUser
        case .unreadable, .unreadableFolder: .noInput
        }
    }

    /// What to do about it, with the commands for it.
    private static func hints(for error: AgentError) -> [String] {
        switch error {
        case .tooManyIterations(let file, _, let more):
            [
                "if you know who made it, allow it more for once, which takes longer: "
                    + "smime import --max-iterations \(more) \(shell: file)"
            ]
        case .unpairedKey: ["name the file of its certificate, too"]
        case .unnamedIdentity: ["say whose it is with --account ADDR"]
        case .nothingToImport: ["name the address yourself: smime recipient add ADDR FILE"]
        case .tooBigForKeys, .unreadable, .unreadableFolder: []
        }
    }
}
