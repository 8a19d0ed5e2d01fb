import PKIX
import SMIME

extension Failure {
    /// The code of the failure in JSON, in kebab-case: a problem code if one fits, otherwise the code of the error, otherwise
    /// that of the exit status.
    var code: String {
        guard let cause else { return status.name }
        if let problem = try? Problem(describing: cause) { return problem.code }
        let code = SMIMEError(cause).code
        return code == .bug ? status.name : code.description.kebabCase
    }
}

extension ExitStatus {
    /// The name of the exit status in JSON.
    var name: String {
        switch self {
        case .success: "success"
        case .negative: "negative"
        case .outage: "outage"
        case .usage: "usage"
        case .badData: "bad-data"
        case .noInput: "no-input"
        case .noUser: "no-user"
        case .noHost: "no-host"
        case .unavailable: "unavailable"
        case .software: "software"
        case .systemError: "system-error"
        case .systemFile: "system-file"
        case .cannotCreate: "cannot-create"
        case .inputOutput: "input-output"
        case .tryAgain: "try-again"
        case .protocolError: "protocol-error"
        case .noPermission: "no-permission"
        case .configuration: "configuration"
        }
    }
}

extension String {
    /// The words of a camelCase name in lower case, with hyphens between them.
    fileprivate var kebabCase: String {
        reduce(into: "") { $0 += $1.isUppercase ? "-\($1.lowercased())" : "\($1)" }
    }
}
