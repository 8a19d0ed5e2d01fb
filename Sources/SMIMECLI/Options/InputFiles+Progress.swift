import ByteStreams

extension InputFiles {
    /// The only input of the command, with a bar at a terminal if it is large; `source` as it is among several inputs.
    ///
    /// - Parameter passes: how often the command reads all of it.
    func measured(_ source: any ByteSource, passes: @autoclosure () -> Int) -> any ByteSource {
        guard paths.count == 1, source.count >= MeasuredSource.least, ProgressBar.isPossible, !Console.isQuiet,
            !writesToTerminal
        else { return source }
        return MeasuredSource(source, passes: passes())
    }
}
