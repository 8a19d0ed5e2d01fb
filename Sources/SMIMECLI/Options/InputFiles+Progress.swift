import ByteStreams
import SMIME

extension InputFiles {
    /// `source` with a progress bar, if it is the only input, it is large, and standard error is a terminal; otherwise
    /// `source` itself.
    ///
    /// - Parameter passes: how often the command reads the whole input.
    func measured(_ source: any ByteSource, passes: @autoclosure () -> Int) -> any ByteSource {
        guard paths.count == 1, source.count >= MeasuredSource.least, ProgressBar.isPossible, !Console.isQuiet,
            !writesToTerminal
        else { return source }
        return MeasuredSource(source, passes: passes())
    }

    /// The same for a message whose structure was already read.
    func measured(_ message: LocatedEntity, passes: @autoclosure () -> Int) -> LocatedEntity {
        LocatedEntity(entity: message.entity, source: measured(message.source, passes: passes()))
    }
}
