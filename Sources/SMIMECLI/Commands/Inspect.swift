import ArgumentParser
import CMS
import Foundation
import SMIME
import Streams

extension SMIMECommand {
    struct Inspect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "inspect",
            abstract: "Show what a mail, CMS object, PKCS#12 or certificate file is made of.",
            discussion: """
                The tree of MIME parts and CMS layers, with algorithms, signers, recipients and certificates. It needs \
                no key and no store, and it judges nothing: that is what verify does.

                  smime inspect mail.eml
                  smime inspect --json alice.p12
                """
        )

        @OptionGroup var input: InputOptions
        @OptionGroup var form: FormOptions
        @OptionGroup var times: TimeOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            if report.json, input.paths.count > 1 { throw ValidationError("--json takes one file") }
        }

        func run() async throws {
            let form = form.inform.inspected
            let outcomes = try await Batch(input.paths).run { path in
                let inspection = try Inspection(of: InputFile.open(path), form: form)
                let isSound = !inspection.allProblems.contains { $0.level == .error }
                return (inspection, isSound ? .success : .badData)
            }
            for outcome in outcomes {
                guard let value = outcome.value else { continue }
                let name = InputFile.name(outcome.path)
                try report.print(InspectionOutput(value, file: name, at: times.date)) {
                    InspectionText.text(value, file: name, at: times.date)
                }
                let errors = value.allProblems.filter { $0.level == .error }
                for problem in errors.prefix(Self.maximumErrors) { Console.error("\(name): \(problem.text)") }
            }
            try outcomes.map(\.status).throwWorst()
        }

        /// How many problems of one file are said on standard error; the report has them all.
        private static let maximumErrors = 10
    }
}

extension FormOptions.InputForm {
    fileprivate var inspected: Inspection.Form {
        switch self {
        case .auto: .any
        case .mime: .message
        case .der: .der
        case .pem: .pem
        }
    }
}
