#if PLUGINS
internal import CBridgeProcess
#endif

extension BridgeHost {
    /// Keeps freed memory for the next batch in place of giving it back to the kernel each time.
    ///
    /// For a whole program: a library leaves the allocator of the program around it alone. Does nothing without the trait
    /// Plugins or with another C library than glibc.
    package static func keepFreedMemory() {
        #if PLUGINS
        bmo_keep_freed_memory()
        #endif
    }
}
