import COpenSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

#if os(Linux)
/// The name of this process in `ps` and `top`. It is in this module because only this module can call prctl.
package enum ProcessName {
    /// Gives this thread, and so the process if it is its first one, a name of at most 15 bytes.
    ///
    /// prctl(2) `PR_SET_NAME`
    package static func set(_ name: String) { _ = smime_prctl_set_name(name) }
}

/// The process that started this one. It stands here because only this module can call prctl.
package enum ParentProcess {
    /// Lets the system send `signal` to this process when `parent` ends, however it ends.
    ///
    /// prctl(2) `PR_SET_PDEATHSIG`
    ///
    /// - Parameter parent: who is thought to be the parent.
    /// - Returns: false if that one has ended before.
    package static func sendsWhenEnding(_ signal: Int32, from parent: Int32) -> Bool {
        // Only very old kernels lack it; the process then ends by itself, later.
        _ = smime_prctl_set_pdeathsig(signal)
        return getppid() == parent
    }
}
#endif
