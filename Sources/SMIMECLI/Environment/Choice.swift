public import ArgumentParser

/// One of a few words.
///
/// ArgumentParser would list them through a key path, for which Swift's runtime looks through all conformances of the
/// program, once for each type: a process that handles one mail feels it. It does the same to describe a value that such an
/// option has from the beginning; so those that have one are optional, and their help says what holds without them.
public protocol Choice: CaseIterable, ExpressibleByArgument, RawRepresentable<String> {}

extension Choice {
    /// The words, in their order.
    public static var allValueStrings: [String] { allCases.map { $0.rawValue } }
    /// Empty: each word explains itself.
    public static var allValueDescriptions: [String: String] { [:] }
}
