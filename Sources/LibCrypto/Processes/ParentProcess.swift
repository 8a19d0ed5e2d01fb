import COpenSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

#if os(Linux)
/// The name of this process in `ps` and `top`. The type is in this module because prctl is only accessible here.
package enum ProcessName {
    /// Sets the name of this thread, at most 15 bytes. In the first thread this is the name of the process.
    ///
    /// prctl(2) `PR_SET_NAME`
    package static func set(_ name: String) { _ = smime_prctl_set_name(name) }
}

/// The process that started this process. The type is in this module because prctl is only accessible here.
package enum ParentProcess {
    /// Makes the system send `signal` to this process when the process `parent` ends for any reason.
    ///
    /// prctl(2) `PR_SET_PDEATHSIG`
    ///
    /// - Parameter parent: the process ID that the caller believes to be the parent's.
    /// - Returns: false if the parent has already ended.
    package static func requestSignal(_ signal: Int32, atEndOf parent: Int32) -> Bool {
        // Only very old kernels lack this call. With such a kernel, the process notices later that its parent has ended.
        _ = smime_prctl_set_pdeathsig(signal)
        return getppid() == parent
    }
}
#endif
