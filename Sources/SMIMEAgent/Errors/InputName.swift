/// The names of input files in messages.
package enum InputName {
    /// The name of the file at `path`; `-` is standard input.
    package static func shown(_ path: String) -> String { path == "-" ? "standard input" : path }
}
