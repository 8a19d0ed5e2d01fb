import Foundation

extension Terminal {
    /// How many columns a line of text may have: those of the terminal, which a pager on it has, too, or that a mail program names in
    /// `COLUMNS`, as none of our streams is its terminal; no more than 80, which are read best.
    static var columns: Int {
        var size = winsize()
        let isKnown = [STDOUT_FILENO, STDERR_FILENO, STDIN_FILENO].contains { descriptor in
            isatty(descriptor) == 1 && ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        }
        let count = isKnown ? Int(size.ws_col) : ProcessEnvironment["COLUMNS"].flatMap { Int($0) }
        return min(max(count ?? 80, 24), 80)
    }
}
