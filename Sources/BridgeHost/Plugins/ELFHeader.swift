#if PLUGINS
#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Inspects a file's ELF header (System V ABI, chapters 4 and 5) without running any of the file's code.
enum ELFHeader {
    /// The size of Elf64_Phdr, the only one that the loader accepts.
    private static let entrySize = 56

    /// Returns the reason why the file at `path` cannot be a shared library for this machine, or nil if it may be one.
    static func refusal(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "cannot be read: \(String(cString: strerror(errno)))" }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return "not a file" }
        var header = [UInt8](repeating: 0, count: 64)
        guard read(file, &header, 64) == 64, header[0..<4].elementsEqual([0x7F, 0x45, 0x4C, 0x46]) else {
            return "not a library: it is not an ELF file"
        }
        // EI_CLASS 2: 64 bits; EI_DATA 1: little endian.
        guard header[4] == 2, header[5] == 1 else { return "not a library for this machine: not 64-bit little endian" }
        // e_type 3: ET_DYN.
        guard integer(header, 16, 2) == 3 else { return "not a library: an ELF file of another type" }
        guard integer(header, 18, 2) == machine else {
            return "not a library for this machine: ELF machine \(integer(header, 18, 2)), not \(machine)"
        }
        return truncation(of: file, size: UInt64(status.st_size), header)
    }

    /// Checks that every segment lies within the file: mapping one that does not would end in SIGBUS.
    private static func truncation(of file: CInt, size: UInt64, _ header: [UInt8]) -> String? {
        let start = integer(header, 32, 8)
        let count = Int(integer(header, 56, 2))
        guard count > 0 else { return "not a library: no program header" }
        guard integer(header, 54, 2) == UInt64(entrySize) else {
            return "not a library: its program headers have \(integer(header, 54, 2)) bytes, not \(entrySize)"
        }
        // The file states the size of the table, so check it before allocating memory.
        let (tableEnd, isBeyond) = start.addingReportingOverflow(UInt64(entrySize * count))
        guard !isBeyond, tableEnd <= size else { return "not a whole library: it is cut off at \(size) bytes" }
        var table = [UInt8](repeating: 0, count: entrySize * count)
        guard pread(file, &table, table.count, off_t(start)) == table.count else {
            return "not a whole library: it is cut off at \(size) bytes"
        }
        for entry in 0..<count {
            let at = entry * entrySize
            // p_type 1: PT_LOAD.
            guard integer(table, at, 4) == 1 else { continue }
            let (end, overflow) = integer(table, at + 8, 8).addingReportingOverflow(integer(table, at + 32, 8))
            if overflow || end > size { return "not a whole library: it is cut off at \(size) bytes" }
        }
        return nil
    }

    private static func integer(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> UInt64 {
        (0..<count).reduce(0) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) }
    }

    private static var machine: UInt64 {
        #if arch(arm64)
        183
        #elseif arch(riscv64)
        243
        #else
        62
        #endif
    }
}
#endif
