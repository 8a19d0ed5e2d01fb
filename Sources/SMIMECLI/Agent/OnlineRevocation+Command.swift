import ArgumentParser
import SMIME
import SMIMEAgent
import SMIMEStore

extension ArgumentHelp {
    static let online: ArgumentHelp = """
        Ask the services named in certificates about revocation if the store has no answer; the services learn that \
        you use these certificates. (default: by the setting revocation.online)
        """
}

extension OnlineRevocation {
    /// The exit status for `report`: 69 if the report's verdict is negative only because a service did not answer.
    func status(for report: VerificationReport) async -> ExitStatus {
        await isUndecided(report) ? .unavailable : report.exitStatus
    }

    /// Warns of services that did not answer, and stores the answers of the others.
    ///
    /// - Throws: the error of settings that could not be read.
    func finish() async throws {
        if let failure { throw Failure(failure) }
        for text in await warnings { Console.note(text) }
        if let text = await keepOrExplain() { Console.warning(text) }
    }
}
