import ArgumentParser
import Foundation
import Keystore
import MailFilter

extension SMIMECommand {
    struct ConfigCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "config",
            abstract: "Show and change the settings of the store.",
            discussion: """
                subject-tags: what people can write into a subject, and what it asks for. Empty for none.

                  smime config set subject-tags '[encrypt] encrypt=require [open] encrypt=never'
                """,
            subcommands: [List.self, Get.self, Set.self, Unset.self]
        )
    }
}

/// What can be set.
private enum Setting: String, CaseIterable, ExpressibleByArgument {
    case subjectTags = "subject-tags"

    /// What holds where nothing was set.
    var standard: String {
        switch self {
        case .subjectTags: "\(SubjectTags.standard)"
        }
    }

    /// Whether `value` says something.
    func accepts(_ value: String) -> Bool {
        switch self {
        case .subjectTags: SubjectTags(parsing: value) != nil
        }
    }
}

extension Store {
    /// What subject tags mean, by the store's setting.
    ///
    /// - Throws: `Failure` with status 78 if the setting cannot be read.
    func subjectTags() async throws -> SubjectTags {
        guard let text = try await settings.value(of: Setting.subjectTags.rawValue) else { return .standard }
        guard let tags = SubjectTags(parsing: text) else {
            throw Failure(.configuration, "the setting subject-tags is not readable")
        }
        return tags
    }
}

extension SMIMECommand.ConfigCommand {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the settings with their values.",
            discussion: "  smime config list"
        )

        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let made = try await global.store(.readOnly).settings.all()
            let values = Dictionary(
                uniqueKeysWithValues: Setting.allCases.map { ($0.rawValue, made[$0.rawValue] ?? $0.standard) }
            )
            try report.print(["settings": values]) {
                values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)\n" }.joined()
            }
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "get",
            abstract: "Print the value of a setting.",
            discussion: "  smime config get subject-tags"
        )

        @Argument(help: ArgumentHelp("The setting.", valueName: "key"))
        fileprivate var key: Setting
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let made = try await global.store(.readOnly).settings.value(of: key.rawValue)
            try Console.print((made ?? key.standard) + "\n")
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Change a setting.",
            discussion: "  smime config set subject-tags '[encrypt] encrypt=require'"
        )

        @Argument(help: ArgumentHelp("The setting.", valueName: "key"))
        fileprivate var key: Setting
        @Argument(help: "Its value.")
        var value: String
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            guard key.accepts(value) else { throw ValidationError("\(key.rawValue) cannot be '\(value)'") }
        }

        func run() async throws {
            let store = try await global.store(.readWrite)
            try await store.settings.set(key.rawValue, to: value)
            try store.close()
        }
    }

    struct Unset: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "unset",
            abstract: "Put a setting back to what it is by itself.",
            discussion: "  smime config unset subject-tags"
        )

        @Argument(help: ArgumentHelp("The setting.", valueName: "key"))
        fileprivate var key: Setting
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            guard try await global.store(.readOnly).exists else { return }
            let store = try await global.store(.readWrite)
            try await store.settings.set(key.rawValue, to: nil)
            try store.close()
        }
    }
}
