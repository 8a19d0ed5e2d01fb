import ArgumentParser
import Foundation

/// Options for verbs with an effect that cannot simply be undone: they remove private keys, rules or decisions about trust, or
/// put a store aside.
struct ConfirmationOptions: ParsableArguments {
    @Flag(help: "Do not ask. Needed if there is no terminal for a question.")
    var yes = false

    /// Asks the user whether to continue, unless `--yes` is given.
    ///
    /// - Parameter loss: a sentence without a full stop that says what would be lost.
    /// - Throws: `Failure` with status 64 if there is no terminal, 77 if the answer is no.
    func confirm(_ loss: String) throws { try Confirmation.ask(loss, unless: yes, by: "--yes") }
}

/// A question that is asked before data is lost.
enum Confirmation {
    /// - Parameters:
    ///   - isGiven: whether `option` is given, so that the question is skipped.
    ///   - option: the option or the command that does the same without a question, for the hint.
    /// - Throws: the errors of `ConfirmationOptions.confirm`
    static func ask(_ loss: String, unless isGiven: Bool, by option: String) throws {
        guard !isGiven else { return }
        guard let answer = try Terminal.answer("\(loss). Go on? [y/N]: ") else {
            throw Failure(.usage, loss, hints: ["there is no terminal to ask; to do it anyway: \(option)"])
        }
        guard ["y", "yes"].contains(answer.lowercased()) else {
            throw Failure(.noPermission, "not confirmed: nothing was changed")
        }
    }
}
