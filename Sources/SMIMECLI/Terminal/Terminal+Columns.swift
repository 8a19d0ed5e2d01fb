import Foundation

extension Terminal {
    /// How many columns a line of text may have: those of the terminal, which a pager on it has, too; no more than 80, which are read
    /// best.
    static var columns: Int {
        var size = winsize()
        let isKnown = [STDOUT_FILENO, STDERR_FILENO, STDIN_FILENO].contains { descriptor in
            isatty(descriptor) == 1 && ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        }
        return isKnown ? min(max(Int(size.ws_col), 24), 80) : 80
    }
}
