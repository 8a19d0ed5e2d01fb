/// How messages to the user name input files.
package enum InputName {
    /// The name to show for the file at `path`; the path `-` is shown as standard input.
    package static func shown(_ path: String) -> String { path == "-" ? "standard input" : path }
}
