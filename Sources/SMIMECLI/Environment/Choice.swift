public import ArgumentParser

/// A value that is one of a few words.
///
/// ArgumentParser would list the words through a key path. Swift's runtime would then search all conformances of the program,
/// once for each type, which takes noticeable time in a process that handles one mail. The same happens when ArgumentParser
/// describes the default value of such an option. Therefore options of such a type are optional, and their help names the
/// default.
public protocol Choice: CaseIterable, ExpressibleByArgument, RawRepresentable<String> {}

extension Choice {
    /// The words in the order of the cases.
    public static var allValueStrings: [String] { allCases.map { $0.rawValue } }
    /// Empty, because the words need no descriptions.
    public static var allValueDescriptions: [String: String] { [:] }
}
