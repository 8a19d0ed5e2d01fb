import Foundation

/// The environment of the process, without the passphrases that options name.
///
/// Copied once: each time takes as long as reading a setting from the store.
enum ProcessEnvironment {
    static let variables = ProcessInfo.processInfo.environment
}
